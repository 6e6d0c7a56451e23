// A client connection's socket and deadline. What its requests need is lent to it with their first
// byte, so that an idle one is small. Owned by its worker's session list; one thread.
#pragma once

#include "gateway/base/ip_address.hpp"
#include "gateway/base/proxy_header.hpp"
#include "gateway/base/timer_wheel.hpp"
#include "gateway/client/options.hpp"
#include "gateway/client/session_environment.hpp"
#include "gateway/client/timeout.hpp"
#include "gateway/intake/client_tls.hpp"
#include "gateway/net/connection.hpp"
#include "gateway/net/tls/tls_server.hpp"

#include <list>
#include <memory>
#include <optional>

namespace gateway::client {

class http1_connection;

class session final : public net::connection, private base::timer_entry {
public:
    // How long an idle connection stays open while draining, for a request on its way; one that has
    // begun to shake hands has its whole time for that, and as much for its request.
    static constexpr base::duration drain_grace = std::chrono::milliseconds{500};

    session(
        session_environment& env,
        net::socket connected,
        const base::ip_address& peer,
        const std::optional<decide_options>& decide = {}
    );
    ~session() override;

    void start();

    // Before start(): the connection is TLS, on such a listener.
    void expect_handshake(const std::shared_ptr<net::tls_server>& of);

    // Finishes what runs, then ends.
    void drain();

    // Ends now; what still waits to be sent is dropped.
    void abort();

    const base::ip_address& peer() const { return peer_; }

    // Both ends of the client's connection: as a PROXY header told them, or as they are.
    base::connection_ends client_ends() const { return told_ends ? *told_ends : ends(peer_); }

    // What TLS told of the client; null: it was not asked for a certificate.
    const intake::client_tls* told_tls() const { return told_tls_.get(); }

    // Whether its requests are questions.
    const std::optional<decide_options>& decide() const { return decide_; }

    // For its http1_connection.
    // At the end of each event: what to wait for, and until when; the http1_connection may be given
    // back. `moved`: something of a body or a tunnel, which puts its deadline off.
    void after_event(bool moved = true);

    // A request has deadlines of its own, not what is left of the last one's.
    void begin_timeouts_anew() { armed_ = timeout::none; }

    // Closes the connection when what was sent has gone, or resets it at once.
    void end(bool reset_it);

    // The session's place in its worker's list.
    std::list<session>::iterator self;
    // The address it has in its worker's count of peers; nothing: it is not counted.
    std::optional<base::ip_address> counted_as;
    // What a PROXY header told of the connection; null: there was none.
    std::unique_ptr<const base::connection_ends> told_ends;

private:
    session_environment& env_;
    const base::ip_address peer_;
    // While requests are on the connection.
    std::unique_ptr<http1_connection> http_;
    timeout armed_ = timeout::none;
    bool counted_active_ = false;
    bool draining_ = false;
    // When the drain began.
    bool was_shaking_hands_ = false;
    const std::optional<decide_options> decide_;
    base::duration handshake_limit_{0};
    std::unique_ptr<intake::client_tls> told_tls_;
    // Number of bytes that are still read and thrown away, so that an answer in plain HTTP arrives;
    // 0: there was none.
    std::size_t linger_left_ = 0;

    http1_connection& http();
    void rest(bool moved);
    void notice_end();

    // Nothing has come of a handshake.
    bool is_silent() const { return shaking_hands() && !tls()->has_begun(); }

    // A part of a record of TLS has come.
    bool has_part() const { return tls() != nullptr && tls()->has_part(); }

    void arm(timeout wanted, bool moved);
    base::duration length_of(timeout t) const;
    void count_active(bool active);
    void peer_ended(bool orderly);
    void handshake_ended(net::received got);
    void handshake_failed(std::string_view reason);
    void refuse_plain_http();
    void discard();

    // net::connection
    void readable() override;
    void hung_up() override;
    void backlog_changed() override;
    void drained() override;
    void broken() override;
    void released() override;
    // timer_entry
    void expired(base::instant now) override;
};

}  // namespace gateway::client
