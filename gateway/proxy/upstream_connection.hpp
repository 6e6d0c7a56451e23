// `upstream_connection` is a connection to one server of an upstream, leased by an exchange or idle
// in its pool. While idle it watches for the server closing it, so a dead one is not handed out.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/net/connection.hpp"
#include "gateway/net/resolved_name.hpp"

#include <list>
#include <optional>

namespace gateway::proxy {

class upstream_connection;

// A server of the upstream, and the address at which it accepted.
struct server_endpoint {
    std::size_t server = 0;
    net::resolved_name::endpoint address;
};

// `lessee` has leased a connection. All calls come from the loop.
class lessee {
public:
    virtual void upstream_readable() = 0;
    // Called when the unsent bytes have become more or fewer, but not none.
    virtual void upstream_backlog_changed() = 0;
    virtual void upstream_drained() = 0;
    // Called when nothing can be sent any more. There may still be bytes to read.
    virtual void upstream_broken() = 0;

protected:
    ~lessee() = default;
};

// `connection_owner` keeps the connections, and ends those that nobody has leased.
class connection_owner {
public:
    // Called when an idle connection was closed, received bytes unasked, or was idle for too long.
    virtual void idle_connection_ended(upstream_connection& c) = 0;
    // Called when the connection may be destroyed.
    virtual void connection_released(upstream_connection& c) = 0;

protected:
    ~connection_owner() = default;
};

class upstream_connection final : public net::connection, public base::timer_entry {
public:
    upstream_connection(
        net::loop& l,
        net::socket connected,
        connection_owner& owner,
        const server_endpoint& to,
        const std::optional<base::connection_ends>& client_ends
    )
        : connection(l, std::move(connected)), owner_(owner), to_(to), client_ends_(client_ends)
    {}

    // Sets who has leased it, or null while it is idle.
    void lease_to(lessee* user) { lessee_ = user; }

    // True if it has served a request before this one.
    bool reused() const { return reused_; }

    void mark_reused() { reused_ = true; }

    std::size_t server() const { return to_.server; }

    const server_endpoint& to() const { return to_; }

    // Returns the ends in its PROXY header, or nothing if it had none.
    const std::optional<base::connection_ends>& client_ends() const { return client_ends_; }

    // Its position in its owner's list.
    std::list<upstream_connection>::iterator self;

private:
    connection_owner& owner_;
    lessee* lessee_ = nullptr;
    bool reused_ = false;
    const server_endpoint to_;
    const std::optional<base::connection_ends> client_ends_;

    void readable() override
    {
        if (lessee_ != nullptr) {
            lessee_->upstream_readable();
        } else if (tls() != nullptr && hears_no_text()) {
            want_read();
        } else {
            owner_.idle_connection_ended(*this);
        }
    }

    void backlog_changed() override
    {
        if (lessee_ != nullptr) {
            lessee_->upstream_backlog_changed();
        }
    }

    void drained() override
    {
        if (lessee_ != nullptr) {
            lessee_->upstream_drained();
        }
    }

    void broken() override
    {
        lessee_ != nullptr ? lessee_->upstream_broken() : owner_.idle_connection_ended(*this);
    }

    void released() override { owner_.connection_released(*this); }

    // Ends the connection, which was idle for too long.
    void expired(base::instant) override { owner_.idle_connection_ended(*this); }
};

}  // namespace gateway::proxy
