// `connect_attempt` makes one connection to one server for one lease. It tries address after
// address until one accepts, does the TLS handshake, if there is any, and waits for the greeting of
// an HTTP/2 server, all within connect_timeout.
// Ownership: the pool, which tries another server after a failure.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/net/socket.hpp"
#include "gateway/net/task.hpp"
#include "gateway/proxy/pool/joined_leases.hpp"
#include "gateway/proxy/pool/pending_lease.hpp"
#include "gateway/proxy/servers/server_names.hpp"
#include "gateway/proxy/upstream_connection.hpp"

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace gateway::proxy {

class connect_attempt;
class multiplexed_connection;

// `attempt_owner` has connections made. An attempt reports its end once, and may then be destroyed.
class attempt_owner {
public:
    // Called when a server has accepted. Makes a connection of the socket, and ends the attempt or
    // has it do the TLS handshake.
    virtual void attempt_connected(connect_attempt& a, net::socket connected) = 0;
    // Called when the TLS handshake on that connection is done.
    virtual void attempt_succeeded(connect_attempt& a, upstream_connection& c) = 0;
    virtual void attempt_failed(connect_attempt& a, failure why) = 0;
    // Called when the attempt was canceled.
    virtual void attempt_ended(connect_attempt& a) = 0;

    // Called when nobody waits for the attempt any more. Returns true if it goes on all the same,
    // for the next request.
    virtual bool keep_abandoned(connect_attempt& a) = 0;

protected:
    ~attempt_owner() = default;
};

// The server that a connection is to go to, and the time that this may take.
struct attempt_target {
    net::loop& loop;
    server_names& names;
    std::size_t server;
    base::duration timeout;
    // True if it must choose HTTP/2, where TLS is spoken. It may then speak first.
    bool http2 = false;
};

class connect_attempt final : public lease_source, private lessee, private base::timer_entry {
public:
    // Requires: the server has an address, and the lease holds a slot there.
    connect_attempt(
        attempt_owner& owner, const attempt_target& to, pending_lease& lease, const lease_wish& wish
    );
    ~connect_attempt() override;

    // Goes on to the next address, or fails if none is left.
    void proceed();
    // Starts the TLS handshake on the connection that its owner has made of the socket.
    void shake_hands(upstream_connection& c, std::unique_ptr<net::tls_engine> engine);

    // Waits for the server's greeting on an HTTP/2 connection.
    void await_greeting(multiplexed_connection& on) { greeting_ = &on; }

    // Returns that connection, or null.
    multiplexed_connection* greeting() const { return greeting_; }

    // Adds to the complaint, with the address unless the configuration spells it like that.
    void complain(const std::string& what);
    // Gives up, which ends in attempt_ended().
    void cancel();

    std::size_t server() const { return to_.server; }

    // The address that is tried, or has accepted.
    const net::resolved_name::endpoint& address() const { return address_; }

    // The lease it works for. Null if abandoned: the connection it makes then goes to the pool.
    pending_lease* lease() { return lease_; }

    // Takes the lease away, for which a connection was found. Returns null if it has none.
    pending_lease* take_lease() { return std::exchange(lease_, nullptr); }

    const lease_wish& wish() const { return wish_; }

    // Returns the leases that wait for the same connection.
    joined_leases& others() { return others_; }

    // True if it lacked something of our own, so that its failure says nothing about the server.
    bool was_short() const { return was_short_; }

    // The connection during the TLS handshake. Null before, and once its owner has taken it.
    upstream_connection* connection() { return connection_; }

    // Returns what the server has sent already; empty but for HTTP/2.
    const std::string& early() const { return early_; }

    bool is_cancelled() const { return cancelled_; }

    // The reason for the log why the server cannot be connected to: the system's error for each
    // address, or what is wrong with its TLS.
    const std::string& complaint() const { return complaint_; }

    // Its position in its owner's list.
    std::list<connect_attempt>::iterator self;

private:
    attempt_owner& owner_;
    attempt_target to_;
    pending_lease* lease_;
    joined_leases others_;
    lease_wish wish_;
    std::optional<net::stream_socket> socket_;
    upstream_connection* connection_ = nullptr;
    std::string complaint_;
    std::string early_;
    multiplexed_connection* greeting_ = nullptr;
    net::resolved_name::endpoint address_;
    std::size_t next_address_;
    std::size_t addresses_left_;
    bool timed_out_ = false;
    bool was_short_ = false;
    bool cancelled_ = false;

    void connected(const boost::system::error_code& ec);
    void fail_handshake();
    void lease_abandoned() override;
    // lessee
    void upstream_readable() override;

    void upstream_backlog_changed() override {}

    void upstream_drained() override {}

    void upstream_broken() override { connection_->want_read(); }

    void expired(base::instant now) override;
};

}  // namespace gateway::proxy
