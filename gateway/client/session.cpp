#include "gateway/client/session.hpp"

#include "gateway/client/bounded_log.hpp"
#include "gateway/client/carrier_pool.hpp"
#include "gateway/client/deadline.hpp"
#include "gateway/client/http2/http2_connection.hpp"
#include "gateway/client/plain_http_answer.hpp"
#include "gateway/net/tls/client_certificate.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace gateway::client {

namespace {

// With its two pointers in the list of sessions, an idle connection has 264 bytes.
static_assert(sizeof(session) <= 248);

}  // namespace

session::session(
    session_environment& env,
    net::socket connected,
    const base::ip_address& peer,
    const listener_options& of
)
    : connection(env.loop, std::move(connected)), peer_(peer), listener_(of), env_(env)
{
    env_.metrics.clients_idle.add(1);
}

session::~session() = default;

void session::expect_handshake(const std::shared_ptr<net::tls_server>& of)
{
    speak_tls(net::tls_server::accept(of));
    handshake_limit_ =
        std::chrono::duration_cast<decltype(handshake_limit_)>(of->options().handshake_timeout);
    if (of->options().clients != net::client_certificates::none) {
        client_tls_ = std::make_unique<intake::client_tls>();
        client_tls_->forwarded = of->options().forward_client_cert;
    }
}

void session::drain()
{
    draining_ = true;
    if (http_ != nullptr) {
        http_->state().drain();
    }
    if (http2_ != nullptr) {
        http2_->drain();
    }
    was_shaking_hands_ = shaking_hands();
    if (is_silent()) {
        armed_ = timeout::none;  // It has less time now.
    }
    after_event(true);
}

void session::abort()
{
    if (closed()) {
        return;
    }
    if (http_ != nullptr) {
        http_->state().abort();
    }
    if (http2_ != nullptr) {
        http2_->abort();
    }
    reset();  // Drops what still waits to be sent.
}

void session::count_active(bool active)
{
    if (counted_active_ != active) {
        counted_active_ = active;
        env_.metrics.clients_active.add(active ? 1 : -1);
        env_.metrics.clients_idle.add(active ? -1 : 1);
    }
}

// ---- its http1_connection --------------------------------------------------------------------

http1_connection& session::http()
{
    if (http_ == nullptr) {
        http_ = env_.spare_connections.borrow(env_);
        http_->attend_to(*this, *this);
        if (draining_) {
            http_->state().drain();
        }
    }
    return *http_;
}

void session::speak_http2()
{
    http2_ = std::make_unique<http2_connection>(env_, *this, *this);
    if (draining_) {
        http2_->drain();
    }
}

void session::close_client(bool reset_it)
{
    reset_it ? reset() : close_when_sent();
}

// ---- what to wait for ------------------------------------------------------------------------

void session::after_event(bool moved)
{
    if (http2_ != nullptr) {
        after_http2_event(moved);
        return;
    }
    if (http_ != nullptr) {
        http_->state().settle();
        notice_end();
    }
    if (closed()) {
        return;
    }
    if (http_ == nullptr) {
        rest(moved);
        return;
    }
    http1_state& http = http_->state();
    count_active(http.at() != http1_state::phase::idle);
    if (http.at_rest() && !sending()) {
        env_.spare_connections.take_back(std::move(http_));
        rest(moved);
        return;
    }
    if (http.wants_client_bytes()) {
        want_read();
    }
    http_->want_upstream_bytes();
    arm(closes_when_sent() ? timeout::body : http.waits_for(), moved);
}

void session::after_http2_event(bool moved)
{
    if (closed()) {
        return;
    }
    http2_->settle();
    if (closed()) {
        return;
    }
    count_active(http2_->is_active());
    want_read();
    arm(closes_when_sent() ? timeout::body : http2_->waits_for(), moved);
}

// Ends the request of a client that has left while nothing is read from it. An orderly end counts
// only if the request's body was read, as it lies behind that.
void session::notice_end()
{
    http1_state& state = http_->state();
    const bool has_left = was_reset() || (has_hung_up() && !state.awaits_body());
    if (has_left && state.is_paused()) {
        state.client_closed(false);
    }
}

// Waits for the next request, once the last response has gone.
// Requires: no http1_connection.
void session::rest(bool moved)
{
    if (linger_left_ > 0) {
        want_read();
        arm(timeout::linger, false);
    } else if (shaking_hands()) {
        want_read();
        arm(timeout::handshake, false);
    } else if (sending()) {
        arm(timeout::body, moved);
    } else {
        want_read();
        // A part of a record is a part of a request, and one of the preface is that of a
        // connection.
        arm(has_part() || has_part_of_preface() ? timeout::head : timeout::idle, moved);
    }
}

void session::arm(timeout wanted, bool moved)
{
    put_deadline({env_.loop, *this, armed_}, wanted, moved, [this](timeout t) {
        return length_of(t);
    });
}

base::duration session::length_of(timeout t) const
{
    const http::options& bounds = http_ ? http_->state().limits() : limits();
    switch (t) {
        case timeout::handshake:
            return draining_ && is_silent()
                       ? std::min<base::duration>(drain_grace, handshake_limit_)
                       : handshake_limit_;
        case timeout::idle:
            return !draining_           ? bounds.idle_timeout
                   : was_shaking_hands_ ? base::duration{handshake_limit_}
                                        : drain_grace;
        case timeout::response:
            return http_->response_timeout();
        default:
            return configured_time(t, bounds);
    }
}

// ---- events ----------------------------------------------------------------------------------

void session::readable()
{
    if (linger_left_ > 0) {
        discard();
        return;
    }
    std::span<char> bytes;
    const bool began_shaken = !shaking_hands();
    if (draining_ && is_silent()) {
        armed_ = timeout::none;  // It has its whole time again.
    }
    const net::received got = receive(bytes);
    if (!began_shaken) {
        handshake_ended(got);
    }
    if (got == net::received::broken && tls() != nullptr && tls()->flooded()) {
        env_.metrics.tls_floods.add();
    }
    bool moved = false;
    if (linger_left_ > 0) {
        // Nothing is left but to wait for the end.
    } else if (got == net::received::data) {
        moved = client_bytes(bytes);
    } else if (got != net::received::nothing) {
        peer_ended(got == net::received::closed);
    } else {
        // A record has up to 16 KiB and may take its time, so a part of one counts as a movement.
        moved = http_ != nullptr && http_->state().reads_content() && has_part();
    }
    after_event(moved);
}

// Takes bytes in the protocol that is spoken. Returns true if a part of a body has moved.
bool session::client_bytes(std::span<char> bytes)
{
    std::string whole;  // with the beginning of a preface that is none
    if (may_be_http2_) {
        const std::string_view before = preface_.before();
        const auto begins_with = preface_.read({bytes.data(), bytes.size()});
        may_be_http2_ = begins_with == http2::preface::verdict::incomplete;
        if (may_be_http2_) {
            return false;
        }
        if (begins_with == http2::preface::verdict::http2) {
            speak_http2();
            http2_->client_bytes(before);
        } else if (!before.empty()) {
            whole.assign(before).append(bytes.data(), bytes.size());
            bytes = whole;
        }
    }
    if (http2_ != nullptr) {
        http2_->client_bytes(bytes);
        return false;
    }
    http1_state& state = http().state();
    const bool moved = state.reads_content();  // Asked first: it is false after the last piece.
    state.client_bytes(bytes);
    return moved;
}

// Counts the handshake as full, resumed or failed, if it is over.
void session::handshake_ended(net::received got)
{
    if (!shaking_hands()) {
        (tls()->resumed() ? env_.metrics.tls_resumed : env_.metrics.tls_full).add();
        if (tls()->protocol() == "h2") {
            speak_http2();
        }
        if (client_tls_ != nullptr) {
            client_tls_->certificate =
                net::client_certificate_of(tls()->ssl(), client_tls_->forwarded);
            client_tls_->asked_name = tls()->asked_name();
        }
    } else if (got == net::received::broken || got == net::received::closed) {
        env_.metrics.tls_failed.add();
        if (tls()->failed()) {
            handshake_failed(tls()->detail());
        } else if (tls()->has_begun()) {
            handshake_failed("the client closed the connection");
        }
        if (tls()->heard_plain_text()) {
            refuse_plain_http();
        }
    }
}

void session::handshake_failed(std::string_view reason)
{
    log_failed_handshake(peer_, tls()->asked_name(), reason, env_.loop.now());
}

// Answers in plain text, as nginx does, and lingers: bytes that the client may still be sending
// must not destroy the answer.
void session::refuse_plain_http()
{
    speak_plain();
    send(plain_http_answer());
    finish_sending();
    linger_left_ = static_cast<std::uint32_t>(
        std::min<std::size_t>(limits().max_linger_bytes, std::numeric_limits<std::uint32_t>::max())
    );
}

void session::discard()
{
    std::span<char> bytes;
    const net::received got = receive(bytes);
    if (got == net::received::closed || got == net::received::broken ||
        bytes.size() >= linger_left_) {
        close();
    } else {
        linger_left_ -= static_cast<std::uint32_t>(bytes.size());
    }
    after_event(false);
}

void session::peer_ended(bool orderly)
{
    if (http2_ != nullptr) {
        http2_->client_closed();
    } else if (http_ != nullptr) {
        http_->state().client_closed(orderly);
    } else {
        close_client(false);
    }
}

void session::drained()
{
    if (http2_ != nullptr) {
        http2_->client_drained();
    } else if (http_ != nullptr) {  // It may have been given back before something was kept.
        http_->state().client_drained();
    }
    after_event(true);
}

// Gives up. Bytes that are kept cannot be sent any more, so there is nothing to wait for.
void session::broken()
{
    peer_ended(false);
    reset();
}

void session::expired(base::instant)
{
    const bool was_shaking_hands = std::exchange(armed_, timeout::none) == timeout::handshake;
    if (was_shaking_hands) {
        env_.metrics.tls_timeout.add();
        if (tls()->has_begun()) {
            handshake_failed("it did not end within handshake_timeout");
        }
    }
    const bool in_tunnel = http_ != nullptr && http_->state().in_tunnel();
    if (closes_when_sent() || (sending() && !in_tunnel)) {
        broken();
    } else if (http2_ != nullptr) {
        http2_->expired();
    } else if (http_ != nullptr) {
        http_->state().expired();
    } else {
        close();  // It was idle for too long.
    }
    after_event(true);
}

void session::released()
{
    count_active(false);
    env_.metrics.clients_idle.add(-1);
    env_.ended(*this);
}

}  // namespace gateway::client
