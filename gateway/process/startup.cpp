#include "gateway/process/startup.hpp"

#include "config/urls/address.hpp"
#include "gateway/net/listener.hpp"
#include "gateway/telemetry/log.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace gateway::startup {

namespace {

using telemetry::log;
using telemetry::log_level;

// Opens new sockets of one address, one for each worker. A Unix socket cannot be bound twice, so it
// gets one.
std::vector<net::socket> open_new(const net::listen_address& wanted, std::size_t workers)
{
    net::listen_address address = wanted;
    std::vector<net::socket> sockets;
    net::refuse_if_taken(address);
    sockets.push_back(net::open_listening_socket(address));
    if (address.socket_path.empty()) {
        // The port that the kernel chose replaces a port of 0.
        address.port = net::bound_port(sockets.front());
        while (sockets.size() < workers) {
            sockets.push_back(net::open_listening_socket(address));
        }
    }
    return sockets;
}

void log_listening(const char* label, const net::listen_address& wanted, const net::socket& open)
{
    net::listen_address address = wanted;
    if (address.socket_path.empty()) {
        address.port = net::bound_port(open);
    }
    telemetry::log_outcome(log_level::info, label + config::to_text(address));
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

// Returns the inherited sockets of one address, or new ones if there are none.
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
            all.files.add(address.socket_path);
        }
    }
    for (const net::socket& s : inherited) {
        all.shared.push_back({s.fd(), address.socket_path});
    }
    return inherited;
}

}  // namespace

std::size_t worker_count(const client::options& options)
{
    if (options.workers != 0) {
        return options.workers;
    }
    cpu_set_t usable;
    CPU_ZERO(&usable);
    const bool known = ::sched_getaffinity(0, sizeof usable, &usable) == 0;
    return known ? static_cast<std::size_t>(CPU_COUNT(&usable)) : 1;
}

connection_bounds bounds_with_descriptors(const client::options& options)
{
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    constexpr rlim_t others = 100;  // Listeners, logs, stores, idle upstream connections.
    const rlim_t most = limit.rlim_cur;
    const rlim_t kept_back = std::max(most / 4, std::min(others, most / 2));
    const connection_bounds bounds{
        .clients = std::min<std::size_t>(options.max_connections, most - kept_back),
        .admin = std::min<std::size_t>(
            options.admin.max_connections, std::max<rlim_t>(kept_back / 4, 1)
        ),
    };
    const std::string limited = "the descriptor limit of " + std::to_string(most);
    const rlim_t wanted = 2 * options.max_connections + others;
    if (most < wanted) {
        log(log_level::warning,
            limited + " is less than 2 x max_connections + " + std::to_string(others) + " = " +
                std::to_string(wanted) + ", so clients get " + std::to_string(bounds.clients) +
                " and upstreams the rest: raise the hard limit (ulimit -Hn, LimitNOFILE=) or lower "
                "max_connections");
    }
    if (bounds.admin < options.admin.max_connections) {
        log(log_level::info,
            limited + " gives the admin API " + std::to_string(bounds.admin) +
                " connections, less than admin.max_connections");
    }
    return bounds;
}

listening_sockets open_listeners(const client::options& options, inheritance from_before)
{
    const std::size_t workers = worker_count(options);
    std::vector<net::listen_address> wanted;
    for (const client::listener_options& listener : options.listeners) {
        wanted.push_back(listener.address);
    }
    wanted.push_back(options.admin.address);
    auto shares = share_out(std::move(from_before.sockets), wanted);

    listening_sockets all;
    all.inherited_files = std::move(from_before.files);
    all.of_workers.resize(workers);
    for (std::size_t i = 0; i < options.listeners.size(); ++i) {
        auto sockets = opened(std::move(shares[i]), wanted[i], workers, all);
        if (all.files.owns(wanted[i].socket_path)) {
            // The file's folder decides who may connect, whatever the umask is.
            ::chmod(wanted[i].socket_path.c_str(), 0666);
        }
        log_listening("listening on ", wanted[i], sockets.front());
        const std::size_t own = sockets.size();
        for (std::size_t w = own; w < workers; ++w) {
            sockets.push_back(copy_of(sockets[w % own], wanted[i]));
        }
        for (std::size_t k = 0; k < sockets.size(); ++k) {
            all.of_workers[k % workers].push_back({i, std::move(sockets[k])});
        }
    }
    auto admin = opened(std::move(shares.back()), wanted.back(), 1, all);
    log_listening("admin API on ", wanted.back(), admin.front());
    all.of_admin = std::move(admin.front());
    return all;
}

void adopt_files(listening_sockets& all)
{
    socket_files unwanted;
    for (const std::string& path : std::exchange(all.inherited_files, {})) {
        const bool is_wanted = std::any_of(
            all.shared.begin(),
            all.shared.end(),
            [&path](const listening_sockets::shared_socket& s) { return s.path == path; }
        );
        (is_wanted ? all.files : unwanted).add(path);
    }
}

std::vector<passed_socket> to_pass_on(const listening_sockets& all)
{
    std::vector<passed_socket> passed;
    for (const listening_sockets::shared_socket& s : all.shared) {
        passed.push_back({s.fd, all.files.owns(s.path)});
    }
    return passed;
}

}  // namespace gateway::startup
