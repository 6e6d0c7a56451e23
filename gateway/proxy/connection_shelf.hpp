// The connections of one worker to one upstream: those that requests have, and idle ones that wait
// for the next request to the same server. Owned by the pool; one thread.
#pragma once

#include "gateway/proxy/options.hpp"
#include "gateway/proxy/pool_metrics.hpp"
#include "gateway/proxy/upstream_connection.hpp"

#include <functional>
#include <list>
#include <vector>

namespace gateway::proxy {

class connection_shelf final : private connection_owner {
public:
    // All of them outlive it.
    connection_shelf(net::loop& l, const upstream_options& options, const pool_metrics& metrics)
        : loop_(l), options_(options), metrics_(metrics), idle_(options.servers.size())
    {}

    // The idle connection to that server that was used last; null: there is none. `surely_open`:
    // each is looked at first, at the price of a system call. `ends`: with a PROXY header that told
    // just these.
    upstream_connection* take(
        std::size_t server, bool surely_open, const std::optional<base::connection_ends>& ends
    );

    // A new connection, for whoever takes it. If there are `ends`, it begins with a PROXY header
    // that tells them.
    upstream_connection& add(
        net::socket connected,
        const server_endpoint& to,
        const std::optional<base::connection_ends>& ends
    );

    // Takes one back. It is closed unless it is `reusable`, at rest, and there is room for it. Of
    // connections with a PROXY header, of which each is some client's, the oldest one makes room.
    void put_back(upstream_connection& c, bool reusable);

    // Closes the idle connections of which `is_stale` is true.
    void close_idle_if(const std::function<bool(const upstream_connection&)>& is_stale);

    // Keeps none from now on.
    void retire();
    // Closes all.
    void close();

    bool retired() const { return retired_; }

    // Whether there are no connections at all.
    bool empty() const { return all_.empty(); }

private:
    net::loop& loop_;
    const upstream_options& options_;
    const pool_metrics& metrics_;
    std::list<upstream_connection> all_;
    // [i] are those to server i; the last is the one used last.
    std::vector<std::vector<upstream_connection*>> idle_;
    bool retired_ = false;

    upstream_connection* last_told(
        std::size_t server, const std::optional<base::connection_ends>& ends
    );

    // connection_owner
    void idle_connection_ended(upstream_connection& c) override;
    void connection_released(upstream_connection& c) override;
};

}  // namespace gateway::proxy
