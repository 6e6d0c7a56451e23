// `connect_attempts` makes the connections of one worker to one upstream, for leases that no
// connection is there for. With HTTP/2, several leases wait for one connection.
// Ownership: the pool.
// Thread: the pool's.
#pragma once

#include "gateway/proxy/options.hpp"
#include "gateway/proxy/pool/connect_attempt.hpp"
#include "gateway/proxy/pool/connection_shelf.hpp"
#include "gateway/proxy/pool/pool_metrics.hpp"
#include "gateway/proxy/pool/server_conduct.hpp"
#include "gateway/proxy/pool/shared_connections.hpp"
#include "gateway/proxy/servers/server_names.hpp"

#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace gateway::proxy {

// `attempts_owner` has leases wait, each of which holds a slot at its server.
class attempts_owner {
public:
    virtual void lease_connected(pending_lease& l, upstream_carrier& c) = 0;
    // Called when the server cannot be connected to.
    virtual void server_unreachable(
        pending_lease& l, const lease_wish& wish, std::size_t server, failure why
    ) = 0;
    // Called when the connection that was made has no room for the lease.
    virtual void lease_turned_away(
        pending_lease& l, const lease_wish& wish, std::size_t server
    ) = 0;
    // Called when a lease was abandoned.
    virtual void lease_left(std::size_t server) = 0;

protected:
    ~attempts_owner() = default;
};

class connect_attempts final : private attempt_owner {
public:
    // `surroundings` is what a pool has. All of it outlives this object.
    struct surroundings {
        net::loop& loop;
        const upstream_options& options;
        const pool_metrics& metrics;
        server_names& names;
        server_conduct& conduct;
        connection_shelf& shelf;
        shared_connections& shared;
    };

    connect_attempts(const surroundings& in, attempts_owner& owner);

    // Has the lease wait for a new connection to the server.
    void begin(std::size_t server, pending_lease& l, const lease_wish& wish);

    // Takes what shared_connections reports of a greeting.
    void greeted(
        multiplexed_connection& on, std::optional<failure> why, std::string_view complaint
    );
    // Gives streams of a connection that has room again to leases that wait for another one.
    void serve_waiting(multiplexed_connection& shared);

    // Breaks off what is under way.
    // Requires: the shelf is retired.
    void close();

    bool empty() const { return all_.empty(); }

private:
    surroundings in_;
    attempts_owner& owner_;
    // tls_[i] is the TLS client for server i. Empty without TLS.
    std::vector<std::shared_ptr<net::tls_client>> tls_;
    // expected_[i] is the number of requests that a connection to server i will carry at a time:
    // what the last one did.
    std::vector<std::size_t> expected_;
    std::list<connect_attempt> all_;
    // Number of abandoned attempts, which are to become idle connections; at most max_idle, beside
    // those that others wait for.
    std::size_t abandoned_ = 0;

    bool speaks_http2() const { return in_.options.protocol == upstream_protocol::http2; }

    connect_attempt* attempt_to(std::size_t server, const lease_wish& wish);
    bool give(pending_lease& l, multiplexed_connection& shared);
    bool has_use_for_another() const;
    void share(connect_attempt& a, upstream_connection& c);
    void serve(connect_attempt& a, multiplexed_connection& shared);
    void remove(connect_attempt& a, failure why);

    // attempt_owner
    void attempt_connected(connect_attempt& a, net::socket connected) override;
    void attempt_succeeded(connect_attempt& a, upstream_connection& c) override;
    void attempt_failed(connect_attempt& a, failure why) override;
    void attempt_ended(connect_attempt& a) override;
    bool keep_abandoned(connect_attempt& a) override;
};

}  // namespace gateway::proxy
