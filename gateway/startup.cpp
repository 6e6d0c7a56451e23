#include "gateway/startup.hpp"

#include "gateway/net/listener.hpp"
#include "gateway/telemetry/log.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sched.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gateway::startup {

namespace {

using telemetry::log;
using telemetry::log_level;

net::listen_target target_of(const server::listen_address& address)
{
    return {address.host, address.port, address.socket_path};
}

std::string name_of(const server::listen_address& address)
{
    if (!address.socket_path.empty()) {
        return "unix:" + address.socket_path;
    }
    const bool v6 = address.host.find(':') != std::string::npos;
    return (v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

// Opens the first socket of an address; a port of 0 becomes the one that the kernel chose.
net::socket open_first(server::listen_address& address, std::string_view label)
{
    net::refuse_if_taken(target_of(address));
    net::socket first = net::open_listening_socket(target_of(address));
    if (address.socket_path.empty()) {
        address.port = net::bound_port(first);
    }
    log(log_level::info, std::string(label) + name_of(address));
    return first;
}

net::socket open_another(const server::listen_address& address, const net::socket& first)
{
    if (address.socket_path.empty()) {
        return net::open_listening_socket(target_of(address));
    }
    net::socket copy(::dup(first.fd()));  // it cannot be bound twice: workers share one queue
    if (!copy.is_open()) {
        throw std::system_error(errno, std::generic_category(), "cannot share " + name_of(address));
    }
    return copy;
}

}  // namespace

std::size_t worker_count(const server::options& options)
{
    if (options.workers != 0) {
        return options.workers;
    }
    cpu_set_t usable;
    CPU_ZERO(&usable);
    const bool known = ::sched_getaffinity(0, sizeof usable, &usable) == 0;
    return known ? static_cast<std::size_t>(CPU_COUNT(&usable)) : 1;
}

std::size_t connections_with_descriptors(std::size_t max_connections)
{
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    constexpr rlim_t others = 100;  // listeners, logs, stores, idle upstream connections
    const rlim_t most = limit.rlim_cur;
    const rlim_t room = most - std::max(most / 4, std::min(others, most / 2));
    const std::size_t connections = std::min<std::size_t>(max_connections, room);
    if (most < 2 * max_connections + others) {
        log(log_level::warning,
            "the descriptor limit of " + std::to_string(most) +
                " is less than 2 x max_connections + " + std::to_string(others) + " = " +
                std::to_string(2 * max_connections + others) + ", so clients get " +
                std::to_string(connections) +
                " and upstreams the rest: raise the hard limit (ulimit -Hn, LimitNOFILE=) or lower "
                "max_connections");
    }
    return connections;
}

net::socket open_listener(const server::listen_address& address, std::string_view label)
{
    server::listen_address bound = address;
    return open_first(bound, label);
}

std::vector<std::vector<net::socket>> open_listeners(
    const std::vector<server::listener_options>& listeners, std::size_t workers
)
{
    std::vector<std::vector<net::socket>> out(workers);
    for (const server::listener_options& listener : listeners) {
        server::listen_address address = listener.address;
        net::socket first = open_first(address, "listening on ");
        for (std::size_t i = 1; i < workers; ++i) {
            out[i].push_back(open_another(address, first));
        }
        out[0].push_back(std::move(first));
    }
    return out;
}

void end_at_next_signal()
{
    for (const int signal : {SIGTERM, SIGINT}) {
        std::signal(signal, [](int) { std::_Exit(1); });
    }
}

void remove_socket_files(const server::options& options)
{
    for (const server::listener_options& listener : options.listeners) {
        if (!listener.address.socket_path.empty()) {
            ::unlink(listener.address.socket_path.c_str());
        }
    }
    if (!options.admin.address.socket_path.empty()) {
        ::unlink(options.admin.address.socket_path.c_str());
    }
}

std::vector<std::string> needs_restart(
    const config::settings& running, const config::settings& fresh
)
{
    std::vector<std::string> keys;
    const auto compare = [&keys](bool same, const char* key) {
        if (!same) {
            keys.emplace_back(key);
        }
    };
    compare(running.server.listeners == fresh.server.listeners, "listeners");
    compare(running.server.admin == fresh.server.admin, "admin");
    compare(running.server.workers == fresh.server.workers, "workers");
    compare(running.server.max_connections == fresh.server.max_connections, "max_connections");
    compare(running.local_store == fresh.local_store, "stores.local");
    return keys;
}

void keep_fixed(const config::settings& running, config::settings& fresh)
{
    server::options kept = running.server;
    kept.drain_timeout = fresh.server.drain_timeout;  // these may change
    kept.max_connections_per_peer = fresh.server.max_connections_per_peer;
    kept.max_waiting = fresh.server.max_waiting;
    kept.admin_token = fresh.server.admin_token;
    fresh.server = std::move(kept);
    fresh.local_store = running.local_store;
}

}  // namespace gateway::startup
