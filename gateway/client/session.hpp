// `session` is a client connection's socket and deadline. The memory that its requests need is lent
// to it with their first byte, so that an idle session is small.
// Ownership: its worker's list of sessions.
// Thread: one thread only.
#pragma once

#include "gateway/base/ip_address.hpp"
#include "gateway/base/proxy_header.hpp"
#include "gateway/base/timer_wheel.hpp"
#include "gateway/client/http1/http1_state.hpp"
#include "gateway/client/options.hpp"
#include "gateway/client/requests/request_host.hpp"
#include "gateway/client/session_environment.hpp"
#include "gateway/client/timeout.hpp"
#include "gateway/http2/preface.hpp"
#include "gateway/net/connection.hpp"
#include "gateway/net/tls/tls_server.hpp"

#include <cstdint>
#include <list>
#include <memory>
#include <optional>

namespace gateway::client {

class http1_connection;
class http2_connection;

class session final : public net::connection,
                      public http1_port,
                      public request_host,
                      private base::timer_entry {
public:
    // Time that an idle connection stays open in a drain, for a request on its way. One that has
    // begun to shake hands has its whole time for that, and as much for its request.
    static constexpr base::duration drain_grace = std::chrono::milliseconds{500};

    // Ownership: `of`, the options of the listener that it came by, outlives it.
    session(
        session_environment& env,
        net::socket connected,
        const base::ip_address& peer,
        const listener_options& of
    );
    ~session() override;

    void start() { after_event(true); }

    // Takes connections with the preface of HTTP/2 for such.
    // Requires: start() has not been called.
    void accept_http2() { may_be_http2_ = true; }

    // Expects a TLS handshake, with the options of `of`.
    // Requires: start() has not been called.
    void expect_handshake(const std::shared_ptr<net::tls_server>& of);

    // Finishes what runs, then ends.
    void drain();

    // Ends now, and drops what still waits to be sent.
    void abort();

    // ---- request_host
    const base::ip_address& peer() const override { return peer_; }

    bool is_secure() const override { return tls() != nullptr; }

    base::connection_ends client_ends() const override
    {
        return proxied_ends ? *proxied_ends : ends(peer_);
    }

    const intake::client_tls* client_tls() const override { return client_tls_.get(); }

    const std::optional<decide_options>& decide() const override { return listener_.decide; }

    std::string_view rate_limit_service() const override { return listener_.rate_limit_service; }

    // May give the http1_connection back.
    void after_event(bool moved) override;

    void begin_timeouts_anew() override { armed_ = timeout::none; }

    // ---- http1_port
    const http::options& limits() const override { return env_.view->http; }

    void send_client(std::string_view a, std::string_view b) override { send(a, b); }

    bool client_blocked() const override { return sending(); }

    void end_sending() override { finish_sending(); }

    // Closes the connection when what was sent has gone, or resets it at once.
    void close_client(bool reset_it) override;

    // The session's position in its worker's list.
    std::list<session>::iterator self;
    // Ends of the connection that a PROXY header names; null: none has named them.
    std::unique_ptr<const base::connection_ends> proxied_ends;
    // Length of the prefix of its peer's address under which its worker counts connections; 0: it
    // is not counted.
    std::uint8_t counted_prefix = 0;

private:
    // Small members stand together, so that an idle session has few bytes.
    const base::ip_address peer_;
    timeout armed_ = timeout::none;
    bool counted_active_ : 1 = false;
    bool draining_ : 1 = false;
    // True if HTTP/2 is spoken should its preface come, without TLS.
    bool may_be_http2_ : 1 = false;
    http2::preface preface_;
    // True if it was shaking hands when the drain began.
    bool was_shaking_hands_ : 1 = false;
    // Number of bytes that are still read and thrown away, so that an answer in plain HTTP arrives;
    // 0: there was no such answer.
    std::uint32_t linger_left_ = 0;
    // Time for a handshake, in the few bytes that are left here.
    std::chrono::duration<std::uint32_t, std::milli> handshake_limit_{0};
    const listener_options& listener_;
    session_environment& env_;
    // Set while requests are on the connection.
    std::unique_ptr<http1_connection> http_;
    // Set from the moment at which HTTP/2 was chosen.
    std::unique_ptr<http2_connection> http2_;
    std::unique_ptr<intake::client_tls> client_tls_;

    http1_connection& http();
    void speak_http2();
    bool client_bytes(std::span<char> bytes);
    void after_http2_event(bool moved);
    void rest(bool moved);
    void notice_end();

    // True while a handshake is awaited and nothing of it has come.
    bool is_silent() const { return shaking_hands() && !tls()->has_begun(); }

    // True if a part of a TLS record has come, and its end has not.
    bool has_part() const { return tls() != nullptr && tls()->has_part(); }

    bool has_part_of_preface() const { return may_be_http2_ && !preface_.before().empty(); }

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

    // Notices the end if nothing is read. A session that reads learns of it by reading, behind the
    // bytes that came before it.
    void hung_up() override { after_event(true); }

    void backlog_changed() override { after_event(true); }

    void drained() override;
    void broken() override;
    void released() override;
    // timer_entry
    void expired(base::instant now) override;
};

}  // namespace gateway::client
