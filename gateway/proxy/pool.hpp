// The connections of one worker to one upstream: idle ones kept for reuse, new ones made on demand,
// servers taken in turn. A server that cannot be connected to is passed over for the next.
//
// Owned by the worker, used on its thread only. A reload retires it: idle connections are closed at
// once, leased ones when they come back, and empty() tells when it may be destroyed.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/proxy/connect_attempt.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/upstream_connection.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <list>
#include <optional>
#include <vector>

namespace gateway::proxy {

class pool final : public connection_owner {
public:
    using endpoint = net::resolved_name::endpoint;

    struct telemetry_blocks {
        telemetry::upstream_metrics& upstream;
        telemetry::worker_metrics& worker;
    };

    // `echo_port`: where the built-in echo server listens, for servers that name it.
    pool(
        net::loop& l, upstream_options options, unsigned short echo_port, telemetry_blocks metrics
    );
    ~pool();

    // An idle connection, or null. surely_open: it is looked at first, at the price of a system
    // call, for requests that could not be sent again if the server has just closed it.
    enum class care { any, surely_open };
    upstream_connection* take_idle(care how = care::any);

    // A new connection: exactly one call on `lease` later, unless it is abandoned first; or, at
    // once, why there can be none.
    std::optional<failure> connect(pending_lease& lease);

    // Gives a leased connection back; if it is not reusable it is closed.
    void give_back(upstream_connection& c, bool reusable);

    void retire();
    void close();  // retire, and break off what is leased or under way

    bool empty() const { return connections_.empty() && attempts_.empty(); }

    const upstream_options& options() const { return options_; }

    // host:port of the first server, for requests that name no host.
    const std::string& default_host() const { return default_host_; }

    void count_failure(failure why)
    {
        metrics_.upstream.failures[static_cast<std::size_t>(why)].add();
    }

    telemetry::upstream_metrics& metrics() { return metrics_.upstream; }

    // For its connect_attempts.
    struct target {
        std::size_t server;
        pool::endpoint address;
    };

    net::loop& loop() { return loop_; }

    bool addresses_known() const;
    std::size_t most_tries() const;

    std::size_t next_turn() { return next_server_++; }

    // The server whose turn it is, or the next one that has an address; `turn` moves past it.
    std::optional<target> next_target(std::size_t& turn) const;
    upstream_connection& adopt(int fd, std::size_t server_index);
    void attempt_ended(connect_attempt& a);

private:
    struct server {
        net::resolved_name name;
        std::vector<upstream_connection*> idle;  // the last is the one used last
    };

    net::loop& loop_;
    upstream_options options_;
    telemetry_blocks metrics_;
    std::string default_host_;
    std::vector<server> servers_;
    std::size_t next_server_ = 0;
    std::list<upstream_connection> connections_;
    std::list<connect_attempt> attempts_;
    bool retired_ = false;

    net::resolved_name resolve(const server_address& address, unsigned short echo_port);
    void addresses_changed();
    void idle_connection_ended(upstream_connection& c) override;
    void connection_released(upstream_connection& c) override;
};

}  // namespace gateway::proxy
