// Making one connection to one server for one lease: address after address, until one accepts or
// connect_timeout has passed. Owned by the pool, which then tries another server.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/net/task.hpp"
#include "gateway/proxy/pending_lease.hpp"

#include <list>
#include <optional>

namespace gateway::proxy {

class pool;

class connect_attempt final : public lease_source, private base::timer_entry {
public:
    // At a server that has an address, and where the lease has a place.
    connect_attempt(pool& p, pending_lease& lease, std::size_t server, const lease_wish& wish);
    ~connect_attempt() override;

    // Goes on to the next address.
    void proceed();
    // Gives up, telling nobody.
    void cancel();

    std::size_t server() const { return server_; }

    // The lease it works for. Null: abandoned, and the connection it makes goes to the pool.
    pending_lease* lease() { return lease_; }

    const lease_wish& wish() const { return wish_; }

    // It lacked something of our own, so that its failing says nothing of the server.
    bool was_short() const { return was_short_; }

    // Where it stands in its pool's list.
    std::list<connect_attempt>::iterator self;

private:
    pool& pool_;
    pending_lease* lease_;
    std::size_t server_;
    lease_wish wish_;
    std::optional<net::stream_socket> socket_;
    std::size_t next_address_;
    std::size_t addresses_left_;
    bool timed_out_ = false;
    bool was_short_ = false;
    bool cancelled_ = false;

    void connected(const boost::system::error_code& ec);
    void lease_abandoned() override;
    void expired(base::instant now) override;
};

}  // namespace gateway::proxy
