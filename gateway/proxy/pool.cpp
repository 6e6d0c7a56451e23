#include "gateway/proxy/pool.hpp"

#include <algorithm>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace gateway::proxy {

namespace {

std::string name_of(const server_address& address)
{
    if (address.echo) {
        return "echo";
    }
    return address.socket_path.empty() ? address.host + ":" + address.port : "localhost";
}

}  // namespace

pool::pool(
    net::loop& l, upstream_options options, unsigned short echo_port, telemetry_blocks metrics
)
    : loop_(l),
      options_(std::move(options)),
      metrics_(metrics),
      default_host_(name_of(options_.servers.front()))
{
    for (const server_address& address : options_.servers) {
        servers_.push_back(server{resolve(address, echo_port), {}});
    }
}

pool::~pool() = default;

net::resolved_name pool::resolve(const server_address& address, unsigned short echo_port)
{
    if (!address.socket_path.empty()) {
        return net::resolved_name::of_socket(address.socket_path);
    }
    const std::string host = address.echo ? "127.0.0.1" : address.host;
    const std::string port = address.echo ? std::to_string(echo_port) : address.port;
    return net::resolved_name::of_host(loop_, host, port, options_.resolver, [this] {
        addresses_changed();
    });
}

bool pool::addresses_known() const
{
    return std::all_of(servers_.begin(), servers_.end(), [](const server& s) {
        return s.name.known();
    });
}

void pool::addresses_changed()
{
    for (auto a = attempts_.begin(); a != attempts_.end();) {
        (a++)->proceed();  // may end, and so erase itself
    }
}

std::size_t pool::most_tries() const
{
    std::size_t addresses = 0;
    for (const server& s : servers_) {
        addresses += s.name.endpoints().size();
    }
    return addresses;
}

std::optional<pool::target> pool::next_target(std::size_t& turn) const
{
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        const std::size_t index = turn % servers_.size();
        const std::size_t round = turn++ / servers_.size();
        const auto endpoints = servers_[index].name.endpoints();
        if (!endpoints.empty()) {
            return target{index, endpoints[round % endpoints.size()]};
        }
    }
    return std::nullopt;
}

upstream_connection* pool::take_idle(care how)
{
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        auto& idle = servers_[next_server_++ % servers_.size()].idle;
        while (!idle.empty()) {
            upstream_connection* const c = idle.back();
            if (how == care::surely_open && !c->is_quiet()) {
                idle_connection_ended(*c);
                continue;
            }
            idle.pop_back();
            loop_.wheel().disarm(*c);
            metrics_.worker.upstreams_idle.add(-1);
            metrics_.worker.upstreams_active.add(1);
            c->mark_reused();
            return c;
        }
    }
    return nullptr;
}

std::optional<failure> pool::connect(pending_lease& lease)
{
    if (addresses_known() && most_tries() == 0) {
        count_failure(failure::no_address);
        return failure::no_address;
    }
    connect_attempt& a = attempts_.emplace_back(*this, lease);
    a.self = std::prev(attempts_.end());
    a.proceed();
    return std::nullopt;
}

upstream_connection& pool::adopt(int fd, std::size_t server_index)
{
    const int on = 1;  // a Unix socket has no such option, and none is needed
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    upstream_connection& c = connections_.emplace_back(loop_, fd, *this, server_index);
    c.self_ = std::prev(connections_.end());
    metrics_.worker.upstreams_active.add(1);
    return c;
}

void pool::give_back(upstream_connection& c, bool reusable)
{
    c.lease_to(nullptr);
    metrics_.worker.upstreams_active.add(-1);
    auto& idle = servers_[c.server()].idle;
    if (!reusable || retired_ || c.sending() || c.has_news() || idle.size() >= options_.max_idle) {
        c.close();
        return;
    }
    idle.push_back(&c);
    loop_.wheel().arm(c, loop_.now() + options_.idle_timeout);
    metrics_.worker.upstreams_idle.add(1);
    c.want_read();
}

void pool::idle_connection_ended(upstream_connection& c)
{
    auto& idle = servers_[c.server()].idle;
    const auto at = std::find(idle.begin(), idle.end(), &c);
    if (at != idle.end()) {
        idle.erase(at);
        metrics_.worker.upstreams_idle.add(-1);
    }
    c.close();
}

void pool::retire()
{
    retired_ = true;
    for (server& s : servers_) {
        while (!s.idle.empty()) {
            idle_connection_ended(*s.idle.back());
        }
    }
}

void pool::close()
{
    retire();
    for (auto a = attempts_.begin(); a != attempts_.end();) {
        (a++)->cancel();
    }
    for (upstream_connection& c : connections_) {
        c.close();
    }
    for (server& s : servers_) {
        s.name.stop();
    }
}

void pool::attempt_ended(connect_attempt& a)
{
    attempts_.erase(a.self);
}

void pool::connection_released(upstream_connection& c)
{
    connections_.erase(c.self_);
}

}  // namespace gateway::proxy
