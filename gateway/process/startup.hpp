// Prepares what must be there before anything runs: descriptors, listening sockets, the number of
// workers.
#pragma once

#include "gateway/net/socket.hpp"
#include "gateway/process/inherited_sockets.hpp"
#include "gateway/process/socket_files.hpp"
#include "gateway/worker/worker.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gateway::startup {

// Returns the number as configured, or one for each processor that this process may run on.
std::size_t worker_count(const client::options& options);

struct connection_bounds {
    std::size_t clients = 0;
    std::size_t admin = 0;
};

// Raises the descriptor limit to the hard one, and returns how many connections it has room for, at
// most as many as configured. Clients never get the last quarter, which upstreams, the admin API
// and reloads need, and the admin API gets no more than a quarter of that. Logs what is less than
// configured, and warns if there is no room for max_connections with an upstream connection each.
connection_bounds bounds_with_descriptors(const client::options& options);

// `listening_sockets` is all that a process listens on.
struct listening_sockets {
    // [w] has those of worker w, at least one for every listener.
    std::vector<std::vector<worker::opened_listener>> of_workers;
    net::socket of_admin;

    // `shared` has each socket once, the admin API's last, for a process that follows this one.
    // Ownership: of_workers and of_admin, or whoever has taken theirs.
    struct shared_socket {
        int fd = -1;
        // Path of its file; empty: it has none.
        std::string path;
    };

    std::vector<shared_socket> shared;
    // Files of the sockets that were made here, and since adopt_files() also of the others.
    socket_files files;
    std::vector<std::string> inherited_files;
};

// Opens all sockets that are not inherited. An address with inherited sockets gets no others:
// workers that outnumber them share, so that no socket's queue is lost if another process accepts
// from it, too. Logs each address.
// Errors: std::system_error.
listening_sockets open_listeners(const client::options& options, inheritance from_before);

// Takes over the files that came with inherited sockets, now that the process before this one has
// left them. Removes those of sockets that are not wanted any more.
void adopt_files(listening_sockets& all);

// Returns all sockets, for a process that follows; each with its file if that is still there.
std::vector<passed_socket> to_pass_on(const listening_sockets& all);

}  // namespace gateway::startup
