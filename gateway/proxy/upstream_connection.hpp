// `upstream_connection` is a connection to one server of an upstream, leased by an exchange or idle
// in its pool. While idle it watches for the server closing it, so a dead one is not handed out.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/net/connection.hpp"
#include "gateway/proxy/upstream_carrier.hpp"

#include <list>
#include <optional>

namespace gateway::proxy {

class upstream_connection;

// `connection_owner` keeps the connections, and ends those that nobody has leased.
class connection_owner {
public:
    // Called when an idle connection was closed, received bytes unasked, or was idle for too long.
    virtual void idle_connection_ended(upstream_connection& c) = 0;
    // Called when a lease has ended. The connection is closed unless it is `reusable`.
    virtual void put_back(upstream_connection& c, bool reusable) = 0;
    // Called when the connection may be destroyed.
    virtual void connection_released(upstream_connection& c) = 0;

protected:
    ~connection_owner() = default;
};

class upstream_connection final : public net::connection,
                                  public upstream_carrier,
                                  public base::timer_entry {
public:
    upstream_connection(
        net::loop& l,
        net::socket connected,
        connection_owner& owner,
        const server_endpoint& to,
        const std::optional<base::connection_ends>& client_ends
    )
        : connection(l, std::move(connected)),
          upstream_carrier(to),
          owner_(owner),
          client_ends_(client_ends)
    {}

    // Returns the ends in its PROXY header, or nothing if it had none.
    const std::optional<base::connection_ends>& client_ends() const { return client_ends_; }

    // upstream_carrier
    bool reused() const override { return reused_; }

    void send_head(std::string_view text, const http::framing& body, bool at_once) override
    {
        chunked_ = body.how == http::framing::kind::chunked;
        at_once_ = at_once;
        pass(text);
    }

    void send_content(std::string_view content, bool last, std::string_view trailers) override;

    void send_bytes(std::string_view bytes) override { pass(bytes); }

    void end_sending() override { finish_sending(); }

    bool is_blocked() const override { return sending(); }

    bool tells_of_its_end() const override { return true; }

    void await_bytes() override { want_read(); }

    std::optional<std::uint64_t> announced_length() const override { return std::nullopt; }

    net::received receive_text(std::span<char>& text, std::size_t most) override
    {
        return receive(text, most);
    }

    loss why_lost() const override { return loss::ended; }

    std::string_view complaint() const override
    {
        return tls() != nullptr ? std::string_view(tls()->detail()) : std::string_view{};
    }

    void give_back(answer_port::disposition how, bool is_current) override;

    // Its position in its owner's list.
    std::list<upstream_connection>::iterator self;

private:
    connection_owner& owner_;
    bool reused_ = false;
    // True if the body of the request that it carries is in chunks.
    bool chunked_ = false;
    bool at_once_ = false;
    const std::optional<base::connection_ends> client_ends_;

    void pass(std::string_view a, std::string_view b = {})
    {
        at_once_ ? send_at_once(a, b) : send(a, b);
    }

    // net::connection
    void readable() override;

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
