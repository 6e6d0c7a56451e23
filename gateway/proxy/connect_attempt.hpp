// Making one connection to one server for one lease: address after address, until one accepts, and
// the handshake of TLS, if there is any; all of it within connect_timeout. Owned by the pool, which
// then tries another server.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/net/socket.hpp"
#include "gateway/net/task.hpp"
#include "gateway/proxy/pending_lease.hpp"
#include "gateway/proxy/servers/server_names.hpp"
#include "gateway/proxy/upstream_connection.hpp"

#include <list>
#include <memory>
#include <optional>
#include <string>

namespace gateway::proxy {

class connect_attempt;

// Who has connections made. Told once by each attempt how it ended, and may destroy it then.
class attempt_owner {
public:
    // A server has accepted: makes a connection of the socket, and ends the attempt, or has it
    // shake hands.
    virtual void attempt_connected(connect_attempt& a, net::socket connected) = 0;
    // With that connection, hands being shaken.
    virtual void attempt_succeeded(connect_attempt& a, upstream_connection& c) = 0;
    virtual void attempt_failed(connect_attempt& a, failure why) = 0;
    // It was cancelled.
    virtual void attempt_ended(connect_attempt& a) = 0;

    // Nobody waits for it any more: whether it goes on all the same, for the next request.
    virtual bool keep_abandoned(connect_attempt& a) = 0;

protected:
    ~attempt_owner() = default;
};

// Where a connection is to go, and in what time.
struct attempt_target {
    net::loop& loop;
    server_names& names;
    std::size_t server;
    base::duration timeout;
};

class connect_attempt final : public lease_source, private lessee, private base::timer_entry {
public:
    // At a server that has an address, and where the lease has a place.
    connect_attempt(
        attempt_owner& owner, const attempt_target& to, pending_lease& lease, const lease_wish& wish
    );
    ~connect_attempt() override;

    // Goes on to the next address.
    void proceed();
    // Once it is connected, on what its owner has made of the socket.
    void shake_hands(upstream_connection& c, std::unique_ptr<net::tls_engine> engine);
    // Gives up.
    void cancel();

    std::size_t server() const { return to_.server; }

    // The address that is tried, or has accepted.
    const net::resolved_name::endpoint& address() const { return address_; }

    // The lease it works for. Null: abandoned, and the connection it makes goes to the pool.
    pending_lease* lease() { return lease_; }

    const lease_wish& wish() const { return wish_; }

    // It lacked something of our own, so that its failing says nothing of the server.
    bool was_short() const { return was_short_; }

    // That shakes hands; null: there is none yet, or it is its owner's.
    upstream_connection* connection() { return connection_; }

    // Why the server cannot be connected to, for the log: what the system says of each address, or
    // what is wrong with its TLS.
    const std::string& complaint() const { return complaint_; }

    // Where it stands in its owner's list.
    std::list<connect_attempt>::iterator self;

private:
    attempt_owner& owner_;
    attempt_target to_;
    pending_lease* lease_;
    lease_wish wish_;
    std::optional<net::stream_socket> socket_;
    upstream_connection* connection_ = nullptr;
    std::string complaint_;
    net::resolved_name::endpoint address_;
    std::size_t next_address_;
    std::size_t addresses_left_;
    bool timed_out_ = false;
    bool was_short_ = false;
    bool cancelled_ = false;

    void connected(const boost::system::error_code& ec);
    void complain(const std::string& what);
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
