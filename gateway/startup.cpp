#include "gateway/startup.hpp"

#include "config/address.hpp"
#include "gateway/inherited_sockets.hpp"
#include "gateway/net/listener.hpp"
#include "gateway/telemetry/log.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gateway::startup {

namespace {

using telemetry::log;
using telemetry::log_level;

// New sockets of one address, one for each worker; a Unix socket cannot be bound twice.
std::vector<net::socket> open_new(const net::listen_address& wanted, std::size_t workers)
{
    net::listen_address address = wanted;
    std::vector<net::socket> sockets;
    net::refuse_if_taken(address);
    sockets.push_back(net::open_listening_socket(address));
    if (address.socket_path.empty()) {
        // A port of 0 is the one that the kernel chose.
        address.port = net::bound_port(sockets.front());
        while (sockets.size() < workers) {
            sockets.push_back(net::open_listening_socket(address));
        }
    }
    return sockets;
}

void tell(const char* label, const net::listen_address& wanted, const net::socket& open)
{
    net::listen_address address = wanted;
    if (address.socket_path.empty()) {
        address.port = net::bound_port(open);
    }
    log(log_level::info, label + config::to_text(address));
}

// What is there now; 0 and 0: nothing.
socket_file file_at(const std::string& path)
{
    struct stat file {};

    ::lstat(path.c_str(), &file);
    return {path, file.st_dev, file.st_ino};
}

net::socket copy_of(const net::socket& s, const net::listen_address& address)
{
    net::socket copy(::fcntl(s.fd(), F_DUPFD_CLOEXEC, 0));
    if (!copy.is_open()) {
        throw std::system_error(
            errno, std::generic_category(), "cannot share " + config::to_text(address)
        );
    }
    return copy;
}

// Those of one address, or new ones.
std::vector<net::socket> opened(
    std::vector<net::socket> inherited,
    const net::listen_address& address,
    std::size_t workers,
    listening_sockets& all
)
{
    if (inherited.empty()) {
        inherited = open_new(address, workers);
        if (!address.socket_path.empty()) {
            all.files.push_back(file_at(address.socket_path));
        }
    }
    for (const net::socket& s : inherited) {
        all.descriptors.push_back(s.fd());
    }
    return inherited;
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

listening_sockets open_listeners(const server::options& options, std::size_t workers)
{
    std::vector<net::listen_address> wanted;
    for (const server::listener_options& listener : options.listeners) {
        wanted.push_back(listener.address);
    }
    wanted.push_back(options.admin.address);
    auto inherited = share_out(inherited_sockets(), wanted);

    listening_sockets all;
    all.of_workers.resize(workers);
    for (std::size_t i = 0; i < options.listeners.size(); ++i) {
        const std::size_t files = all.files.size();
        auto sockets = opened(std::move(inherited[i]), wanted[i], workers, all);
        if (all.files.size() > files) {
            // The file's folder says who may connect, whatever the umask.
            ::chmod(all.files.back().path.c_str(), 0666);
        }
        tell("listening on ", wanted[i], sockets.front());
        const std::size_t own = sockets.size();
        for (std::size_t w = own; w < workers; ++w) {
            sockets.push_back(copy_of(sockets[w % own], wanted[i]));
        }
        for (std::size_t k = 0; k < sockets.size(); ++k) {
            all.of_workers[k % workers].push_back({i, std::move(sockets[k])});
        }
    }
    auto admin = opened(std::move(inherited.back()), wanted.back(), 1, all);
    tell("admin API on ", wanted.back(), admin.front());
    all.of_admin = std::move(admin.front());
    return all;
}

void end_at_next_signal()
{
    for (const int signal : {SIGTERM, SIGINT}) {
        std::signal(signal, [](int) { std::_Exit(1); });
    }
}

void remove_files(const std::vector<socket_file>& files)
{
    for (const socket_file& made : files) {
        const socket_file present = file_at(made.path);
        if (present.device == made.device && present.inode == made.inode) {
            ::unlink(made.path.c_str());
        }
    }
}

}  // namespace gateway::startup
