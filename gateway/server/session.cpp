#include "gateway/server/session.hpp"

#include "gateway/server/conversation_pool.hpp"

namespace gateway::server {

session::session(session_environment& env, int fd, const base::ip_address& peer)
    : connection(env.loop, fd), env_(env), peer_(peer)
{
    env_.metrics.clients_idle.add(1);
}

void session::start()
{
    after_event();
}

void session::drain()
{
    draining_ = true;
    if (conversation_ != nullptr) {
        conversation_->state().drain();
    }
    after_event();
}

void session::abort()
{
    if (closed()) {
        return;
    }
    if (conversation_ != nullptr) {
        conversation_->state().abort();
    }
    end_after_sending_ = false;
    reset();  // whatever is still waiting to be sent
}

void session::count_active(bool active)
{
    if (counted_active_ != active) {
        counted_active_ = active;
        env_.metrics.clients_active.add(active ? 1 : -1);
        env_.metrics.clients_idle.add(active ? -1 : 1);
    }
}

// ---- its conversation ------------------------------------------------------------------------

void session::converse()
{
    if (conversation_ == nullptr) {
        conversation_ = env_.conversations.borrow(env_);
        conversation_->attend_to(*this);
        if (draining_) {
            conversation_->state().drain();
        }
    }
}

void session::rest_if_possible()
{
    if (conversation_ != nullptr && !sending() && conversation_->state().at_rest()) {
        env_.conversations.give_back(std::move(conversation_));
    }
}

void session::end(bool reset_it)
{
    send_gathered();
    if (reset_it) {
        reset();
    } else if (sending()) {
        end_after_sending_ = true;
    } else {
        close();
    }
}

// ---- what to wait for ------------------------------------------------------------------------

void session::after_event(bool moved)
{
    if (closed()) {
        return;
    }
    rest_if_possible();
    count_active(phase() != session_state::phase::idle);
    if (conversation_ == nullptr) {
        if (!sending()) {
            want_read();
        }
    } else {
        if (conversation_->state().wants_client_bytes(conversation_->upstream_blocked())) {
            want_read();
        }
        conversation_->want_upstream_bytes(sending());
    }
    const deadline wanted = wanted_deadline();
    const bool put_off = moved && (wanted == deadline::body || wanted == deadline::idle ||
                                   wanted == deadline::tunnel);
    if (wanted == deadline::none) {
        env_.loop.wheel().disarm(*this);
    } else if (wanted != armed_ || put_off) {
        env_.loop.wheel().arm(*this, env_.loop.now() + length_of(wanted));
    }
    armed_ = wanted;
}

session::deadline session::wanted_deadline() const
{
    if (end_after_sending_) {
        return deadline::body;  // the last bytes still have to move
    }
    switch (phase()) {
        case session_state::phase::idle:
            return sending() ? deadline::body : deadline::idle;
        case session_state::phase::head:
            return deadline::head;
        case session_state::phase::admitting:
            return sending() ? deadline::body : deadline::none;  // the decision has its own
        case session_state::phase::exchanging:
            if (sending()) {
                return deadline::body;  // of the answer before
            }
            if (conversation_->state().awaits_connection()) {
                return deadline::none;  // the pool has its own
            }
            return conversation_->state().awaits_response() ? deadline::response : deadline::body;
        case session_state::phase::tunnelling:
            return conversation_->state().tunnel_is_idle() ? deadline::tunnel : deadline::body;
        case session_state::phase::draining:
        case session_state::phase::lingering:
            return sending() ? deadline::body : deadline::linger;
        default:
            return deadline::none;
    }
}

base::duration session::length_of(deadline d) const
{
    const http::options& limits = conversation_ ? conversation_->limits() : env_.view->http;
    switch (d) {
        case deadline::idle:
            return draining_ ? drain_grace : limits.idle_timeout;
        case deadline::head:
            return limits.header_timeout;
        case deadline::response:
            return conversation_->response_timeout();
        case deadline::tunnel:
            return limits.tunnel_idle_timeout;
        case deadline::linger:
            return limits.linger_timeout;
        default:
            return limits.body_timeout;
    }
}

// ---- events ----------------------------------------------------------------------------------

void session::readable()
{
    std::span<char> bytes;
    const net::received got = receive(bytes);
    bool moved = false;
    if (got == net::received::data) {
        converse();
        moved = conversation_->state().reads_content();  // not so after the last piece
        conversation_->state().client_bytes(bytes);
    } else if (got != net::received::nothing) {
        peer_ended(got == net::received::closed);
    }
    after_event(moved);
}

void session::peer_ended(bool orderly)
{
    if (conversation_ != nullptr) {
        conversation_->state().client_closed(orderly);
    } else {
        end(false);
    }
}

void session::progressed()
{
    after_event();
}

void session::held_back()
{
    after_event(false);
}

void session::drained()
{
    if (end_after_sending_) {
        close();
        return;
    }
    if (conversation_ != nullptr) {  // it may have been given back before something was held back
        conversation_->state().client_drained();
    }
    after_event();
}

// What is kept cannot go any more, so there is nothing to wait for.
void session::broken()
{
    end_after_sending_ = false;
    peer_ended(false);
    reset();
}

void session::expired(base::instant)
{
    armed_ = deadline::none;
    const bool in_tunnel = phase() == session_state::phase::tunnelling;
    if (end_after_sending_ || (sending() && !in_tunnel)) {
        end_after_sending_ = false;
        peer_ended(false);
        reset();
    } else if (conversation_ != nullptr) {
        conversation_->state().expired(conversation_->upstream_blocked());
    } else {
        close();  // it was idle for too long
    }
    after_event();
}

void session::released()
{
    count_active(false);
    env_.metrics.clients_idle.add(-1);
    env_.ended(*this);
}

}  // namespace gateway::server
