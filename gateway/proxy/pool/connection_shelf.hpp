// `connection_shelf` keeps the connections of one worker to one upstream: those that are leased,
// and idle ones that wait for the next request to the same server.
// Ownership: the pool.
// Thread: the pool's.
#pragma once

#include "gateway/proxy/options.hpp"
#include "gateway/proxy/pool/pool_metrics.hpp"
#include "gateway/proxy/upstream_connection.hpp"

#include <functional>
#include <list>
#include <vector>

namespace gateway::proxy {

class connection_shelf final : private connection_owner {
public:
    // Requires: all arguments outlive it.
    connection_shelf(net::loop& l, const upstream_options& options, const pool_metrics& metrics)
        : loop_(l), options_(options), metrics_(metrics), idle_(options.servers.size())
    {}

    // Takes the idle connection to `server` that was used last. Returns null if there is none.
    // `surely_open`: each is checked for being open, at the price of a system call. `ends`: the
    // PROXY header that the connection must have carried.
    upstream_connection* take(
        std::size_t server, bool surely_open, const std::optional<base::connection_ends>& ends
    );

    // Adds a new connection, which the caller uses. If there are `ends`, it begins with a PROXY
    // header that carries them.
    upstream_connection& add(
        net::socket connected,
        const server_endpoint& to,
        const std::optional<base::connection_ends>& ends
    );

    // Takes a connection back. It is closed unless it is `reusable`, at rest, and there is room for
    // it. One with a PROXY header belongs to one client, so the oldest of these makes room for it.
    void put_back(upstream_connection& c, bool reusable) override;

    // Closes the idle connections for which `is_stale` is true.
    void close_idle_if(const std::function<bool(const upstream_connection&)>& is_stale);

    // Closes the idle connections, and keeps none from now on.
    void retire();
    // Closes all connections.
    void close();

    bool retired() const { return retired_; }

    // True if there are no connections at all.
    bool empty() const { return all_.empty(); }

private:
    net::loop& loop_;
    const upstream_options& options_;
    const pool_metrics& metrics_;
    std::list<upstream_connection> all_;
    // idle_[i] are those to server i; the last is the one used last.
    std::vector<std::vector<upstream_connection*>> idle_;
    bool retired_ = false;

    upstream_connection* last_with(
        std::size_t server, const std::optional<base::connection_ends>& ends
    );

    // connection_owner
    void idle_connection_ended(upstream_connection& c) override;
    void connection_released(upstream_connection& c) override;
};

}  // namespace gateway::proxy
