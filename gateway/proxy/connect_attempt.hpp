// Making one connection to an upstream for one lease: server after server, address after address,
// until one accepts or connect_timeout has passed. Owned by the pool.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/net/task.hpp"
#include "gateway/proxy/failure.hpp"

#include <list>
#include <optional>

namespace gateway::proxy {

class pool;
class connect_attempt;
class upstream_connection;

// A lease that is on its way. Its holder derives from it; destroying or abandoning it is harmless.
class pending_lease {
public:
    virtual void leased(upstream_connection& c) = 0;
    virtual void lease_failed(failure why) = 0;

    void abandon();

protected:
    virtual ~pending_lease() { abandon(); }

private:
    friend class connect_attempt;
    connect_attempt* attempt_ = nullptr;
};

class connect_attempt final : private base::timer_entry {
public:
    connect_attempt(pool& p, pending_lease& lease);
    virtual ~connect_attempt();

    // Tries the next address; does nothing while a try is under way or no address is known yet.
    void proceed();

    void cancel();  // gives up, telling nobody

    std::list<connect_attempt>::iterator self;  // in its pool's list

private:
    friend class pending_lease;
    pool& pool_;
    pending_lease* lease_;
    std::optional<net::stream_socket> socket_;
    std::size_t server_ = 0;
    std::size_t tries_left_ = 0;
    std::size_t
        turn_;  // its own: attempts side by side must not take a server's turn from each other
    bool started_ = false;
    bool timed_out_ = false;
    bool cancelled_ = false;
    failure last_failure_ = failure::no_address;

    void start_connecting(const boost::asio::generic::stream_protocol::endpoint& to);
    void connected(const boost::system::error_code& ec);
    void end_with(failure why);
    void expired(base::instant now) override;
};

}  // namespace gateway::proxy
