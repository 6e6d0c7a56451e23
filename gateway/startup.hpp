// What must be had before anything runs: descriptors, listening sockets, the number of workers.
#pragma once

#include "config/settings.hpp"
#include "gateway/net/socket.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::startup {

// As configured, or one for each processor this process may run on.
std::size_t worker_count(const server::options& options);

// Raises the descriptor limit to the hard one, and says how many client connections it has room
// for, at most max_connections: never the last quarter, which upstreams, the admin API and reloads
// need. Warns if it cannot hold max_connections with an upstream connection each.
std::size_t connections_with_descriptors(std::size_t max_connections);

// One listening socket, logged as `label` and the address; throws std::system_error.
net::socket open_listener(const server::listen_address& address, std::string_view label);

// For each worker, a socket for every address.
std::vector<std::vector<net::socket>> open_listeners(
    const std::vector<server::listener_options>& listeners, std::size_t workers
);

// When nobody waits for signals any more: SIGTERM or SIGINT ends the process at once, with
// status 1.
void end_at_next_signal();

// At the end: the files of Unix sockets would only puzzle the next one to connect.
void remove_socket_files(const server::options& options);

// Keys whose values differ and that a running process cannot change.
std::vector<std::string> needs_restart(
    const config::settings& running, const config::settings& fresh
);

// Puts the running values of those keys into `fresh`.
void keep_fixed(const config::settings& running, config::settings& fresh);

}  // namespace gateway::startup
