// What must be had before anything runs: descriptors, listening sockets, the number of workers.
#pragma once

#include "gateway/net/socket.hpp"
#include "gateway/server/worker.hpp"

#include <cstddef>
#include <string>
#include <sys/types.h>
#include <vector>

namespace gateway::startup {

// As configured, or one for each processor this process may run on.
std::size_t worker_count(const server::options& options);

// Raises the descriptor limit to the hard one, and says how many client connections it has room
// for, at most max_connections: never the last quarter, which upstreams, the admin API and reloads
// need. Warns if it cannot hold max_connections with an upstream connection each.
std::size_t connections_with_descriptors(std::size_t max_connections);

// The file of a Unix socket that was made here, which another process may have replaced since.
struct socket_file {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;
};

// All that a process listens on.
struct listening_sockets {
    // [w]: those of worker w, at least one for every listener.
    std::vector<std::vector<server::opened_listener>> of_workers;
    net::socket of_admin;
    // Each socket once, the admin API's last, for a process that follows this one. Theirs to close.
    std::vector<int> descriptors;
    std::vector<socket_file> files;
};

// Of addresses with inherited sockets no other is opened: workers that outnumber them share, so
// that nobody's queue is lost if another process accepts from them, too. Logs each address; throws
// std::system_error.
listening_sockets open_listeners(const server::options& options, std::size_t workers);

// When nobody waits for signals any more: SIGTERM or SIGINT ends the process at once, with
// status 1.
void end_at_next_signal();

// At the end: they would only puzzle the next one to connect. Those of another process stay.
void remove_files(const std::vector<socket_file>& files);

}  // namespace gateway::startup
