// The connections of one worker to one upstream: idle ones kept for reuse, new ones made on demand,
// at the server that is chosen for each request. A server that cannot be connected to is passed
// over for another.
//
// Owned by the worker, used on its thread only. A reload retires it: idle connections are closed at
// once, leased ones when they come back, and empty() tells when it may be destroyed.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/proxy/connect_attempt.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/places.hpp"
#include "gateway/proxy/retry_budget.hpp"
#include "gateway/proxy/upstream_connection.hpp"
#include "gateway/proxy/waiting_lease.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <list>
#include <optional>
#include <span>
#include <vector>

namespace gateway::proxy {

class pool final : public connection_owner {
public:
    // After so many servers that let connect_timeout pass, a request has waited long enough.
    static constexpr int most_timeouts = 2;

    static constexpr std::chrono::seconds failures_told_every{10};

    struct telemetry_blocks {
        telemetry::upstream_metrics& upstream;
        telemetry::worker_metrics& worker;
        std::vector<telemetry::server_metrics*> servers;
    };

    // `echo_port`: where the built-in echo server listens, for servers that name it.
    pool(
        net::loop& l,
        upstream_options options,
        std::shared_ptr<upstream_status> status,
        unsigned short echo_port,
        telemetry_blocks metrics
    );
    ~pool();

    // A connection at once; or why there can be none; or neither: then there is exactly one call on
    // `l` later, unless it is abandoned first.
    struct lease_result {
        upstream_connection* connection = nullptr;
        std::optional<failure> failed{};
    };

    lease_result lease(pending_lease& l, const lease_wish& wish);

    // Gives a leased connection back; if it is not reusable it is closed.
    void give_back(upstream_connection& c, bool reusable);

    // Before a request is sent a second time: whether that is permitted. `reused`: the connection
    // that was lost had served before.
    bool take_retry(bool reused);

    // What a server said, or that it said nothing, on a connection that had served before or not:
    // for its ejection. True: that was the server's fault.
    void responded(std::size_t server, int status);
    bool did_not_respond(std::size_t server, failure why, bool reused);

    bool has_several_servers() const { return places_.several(); }

    void retire();
    // Retires, and breaks off what is leased or under way.
    void close();

    bool empty() const { return connections_.empty() && attempts_.empty() && waiting_.empty(); }

    const upstream_options& options() const { return options_; }

    // As the configuration has it.
    const std::string& name_of(std::size_t server) const { return servers_[server].text; }

    // host:port of the first server, for requests that name no host.
    const std::string& default_host() const { return default_host_; }

    void count_failure(failure why);

    telemetry::upstream_metrics& metrics() { return metrics_.upstream; }

    // For what works on its leases.
    net::loop& loop() { return loop_; }

    wait_queue& queue() { return places_.queue(); }

    // Null in what it points to when the pool is gone; to be looked at on its thread only.
    const std::shared_ptr<pool*>& mark() const { return mark_; }

    std::span<const net::resolved_name::endpoint> addresses_of(std::size_t server) const
    {
        return servers_[server].name.endpoints();
    }

    // Where to begin among the addresses of a server.
    std::size_t next_turn(std::size_t server) { return servers_[server].turn++; }

    void attempt_succeeded(connect_attempt& a, net::socket connected);
    void attempt_failed(connect_attempt& a, failure why);
    void attempt_ended(connect_attempt& a);
    bool keep_abandoned(connect_attempt& a);
    void serve_woken();
    void serve(waiting_lease& w);
    void waited_too_long(waiting_lease& w);
    void waiting_ended(waiting_lease& w);

private:
    struct known_server {
        std::string text;
        net::resolved_name name;

        // Idle connections; the last is the one used last.
        std::vector<upstream_connection*> idle{};

        std::size_t turn = 0;
    };

    net::loop& loop_;
    upstream_options options_;
    telemetry_blocks metrics_;
    std::string default_host_;
    places places_;
    retry_budget retries_;
    std::vector<known_server> servers_;

    // Bit i: server i has an address.
    std::uint64_t addressed_ = 0;
    // There was an answer for each name, good or not.
    bool names_known_ = false;

    std::list<upstream_connection> connections_;
    std::list<connect_attempt> attempts_;
    std::list<waiting_lease> waiting_;

    // When a failure was last told in the log.
    std::optional<base::instant> told_;
    // How many attempts are abandoned, and are to become idle connections: at most max_idle.
    std::size_t abandoned_ = 0;

    std::shared_ptr<pool*> mark_;
    bool retired_ = false;

    void look_at_names();
    void addresses_changed();
    places::choice take_place(const lease_wish& wish);
    lease_result lease_at(std::size_t server, pending_lease& l, const lease_wish& wish);
    lease_result wait_for_place(pending_lease& l, const lease_wish& wish);
    void settle(pending_lease& l, const lease_result& answer);
    void free_place(std::size_t server);
    void blame(std::size_t server);
    upstream_connection* take_idle(std::size_t server, bool surely_open);
    upstream_connection& adopt(net::socket connected, std::size_t server);
    void keep_or_close(upstream_connection& c, bool reusable);
    void idle_connection_ended(upstream_connection& c) override;
    void connection_released(upstream_connection& c) override;
};

}  // namespace gateway::proxy
