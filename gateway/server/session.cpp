#include "gateway/server/session.hpp"

namespace gateway::server {

session::session(session_environment& env, int fd, const base::ip_address& peer)
    : connection(env.loop, fd), env_(env), admitter_(env.checks, peer), state_(*this)
{
    env_.metrics.clients_idle.add(1);
    admitter_.reset(env_.view);
}

void session::start()
{
    after_event();
}

void session::drain()
{
    draining_ = true;
    state_.drain();
    after_event();
}

void session::abort()
{
    if (!closed()) {
        state_.abort();
        end_after_sending_ = false;
        reset();  // whatever is still waiting to be sent
    }
}

void session::count_active(bool active)
{
    if (counted_active_ != active) {
        counted_active_ = active;
        env_.metrics.clients_active.add(active ? 1 : -1);
        env_.metrics.clients_idle.add(active ? -1 : 1);
    }
}

// ---- what to wait for ------------------------------------------------------------------------

void session::after_event()
{
    if (closed()) {
        return;
    }
    count_active(state_.at() != session_state::phase::idle);
    if (state_.wants_client_bytes(upstream_blocked())) {
        want_read();
    }
    if (upstream_ != nullptr && state_.wants_upstream_bytes(sending())) {
        upstream_->want_read();
    }
    const deadline wanted = wanted_deadline();
    const bool put_off =  // by whatever happens
        wanted == deadline::body || wanted == deadline::idle || wanted == deadline::tunnel;
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
    switch (state_.at()) {
        case session_state::phase::idle:
            return sending() ? deadline::body : deadline::idle;
        case session_state::phase::head:
            return deadline::head;
        case session_state::phase::exchanging:
            if (state_.awaits_connection()) {
                return deadline::none;  // the pool has its own
            }
            return state_.awaits_response() ? deadline::response : deadline::body;
        case session_state::phase::tunnelling:
            return state_.tunnel_is_idle() ? deadline::tunnel : deadline::body;
        case session_state::phase::draining:
        case session_state::phase::lingering:
            return sending() ? deadline::body : deadline::linger;
        default:
            return deadline::none;
    }
}

base::duration session::length_of(deadline d) const
{
    const http::options& limits = admitter_.view().http;
    switch (d) {
        case deadline::idle:
            return draining_ ? drain_grace : limits.idle_timeout;
        case deadline::head:
            return limits.header_timeout;
        case deadline::response:
            return admitter_.pool().options().response_timeout;
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
    switch (receive(bytes)) {
        case net::received::data:
            state_.client_bytes(bytes);
            break;
        case net::received::closed:
            state_.client_closed(true);
            break;
        case net::received::broken:
            state_.client_closed(false);
            break;
        case net::received::nothing:
            break;
    }
    after_event();
}

void session::progressed()
{
    after_event();
}

void session::drained()
{
    if (end_after_sending_) {
        close();
        return;
    }
    state_.client_drained();
    after_event();
}

// What is kept cannot go any more, so there is nothing to wait for.
void session::broken()
{
    end_after_sending_ = false;
    state_.client_closed(false);
    reset();
}

void session::expired(base::instant)
{
    armed_ = deadline::none;
    env_.loop.refresh_now();
    const bool in_tunnel = state_.at() == session_state::phase::tunnelling;
    if (end_after_sending_ || (sending() && !in_tunnel)) {
        end_after_sending_ = false;
        state_.client_closed(false);
        reset();
    } else {
        state_.expired(upstream_blocked());
    }
    after_event();
}

void session::upstream_readable()
{
    std::span<char> bytes;
    switch (upstream_->receive(bytes)) {
        case net::received::data:
            state_.upstream_bytes(bytes);
            break;
        case net::received::closed:
            state_.upstream_closed(true);
            break;
        case net::received::broken:
            state_.upstream_closed(false);
            break;
        case net::received::nothing:
            break;
    }
    after_event();
}

void session::upstream_drained()
{
    state_.upstream_drained();
    after_event();
}

// A request that could not be sent whole may have been answered already: read that first.
void session::upstream_broken()
{
    upstream_->want_read();
}

void session::leased(proxy::upstream_connection& c)
{
    upstream_ = &c;
    c.lease_to(this);
    state_.leased();
    after_event();
}

void session::lease_failed(proxy::failure why)
{
    state_.lease_failed(why);
    after_event();
}

void session::decided(const verdict& v)
{
    env_.loop.refresh_now();
    state_.admitted(admitter_.conclude(v));
    after_event();
}

// ---- what the state asks for -----------------------------------------------------------------

void session::send_client(std::string_view a, std::string_view b)
{
    if (send(a, b) == net::sent::broken) {
        want_read();  // the end is noticed there, outside of whatever called us
    }
}

void session::close_client(bool reset_it)
{
    admitter_.abandon();
    if (reset_it) {
        reset();
    } else if (sending()) {
        end_after_sending_ = true;
    } else {
        close();
    }
}

void session::released()
{
    count_active(false);
    env_.metrics.clients_idle.add(-1);
    env_.ended(*this);
}

session::lease_result session::lease(bool fresh)
{
    proxy::pool& pool = admitter_.pool();
    const bool once = !state_.may_retry() || pool.options().retry_budget == 0;
    proxy::lease_wish wish{.fresh = fresh, .surely_open = once};
    if (fresh) {  // the connection before it ended without a byte
        wish.last_failure = proxy::failure::reset;
        if (!pool.take_retry()) {
            lease_failure_ = proxy::failure::reset;
            return lease_result::failed;
        }
        if (pool.did_not_respond(*last_server_, wish.last_failure, last_was_reused_)) {
            wish.passed_over = std::uint64_t{1} << *last_server_;
        }
    }
    last_server_.reset();
    if (pool.options().balance == proxy::balancing::hash) {
        wish.key = proxy::key_of(admitter_.client_prefix());
    }
    const auto answer = pool.lease(*this, wish);
    if (answer.failed) {
        lease_failure_ = *answer.failed;
        return lease_result::failed;
    }
    if (answer.connection == nullptr) {
        return lease_result::pending;
    }
    upstream_ = answer.connection;
    upstream_->lease_to(this);
    return lease_result::ready;
}

void session::send_upstream(std::string_view a, std::string_view b)
{
    sent_upstream_ = env_.loop.now();
    if (upstream_->send(a, b) == net::sent::broken) {
        upstream_->want_read();
    }
}

void session::release(bool reusable)
{
    pending_lease::abandon();
    if (upstream_ != nullptr) {
        last_server_ = static_cast<std::uint8_t>(upstream_->server());
        last_was_reused_ = upstream_->reused();
        admitter_.pool().give_back(*upstream_, reusable);
        upstream_ = nullptr;
    }
}

void session::response(const http::response_head& head)
{
    count_response(head.status);
    state_.response(head);
}

void session::switched(const http::response_head& head, std::string_view rest)
{
    count_response(head.status);
    state_.switched(head, rest);
}

void session::count_response(int status)
{
    proxy::pool& pool = admitter_.pool();
    pool.metrics().duration.observe(env_.loop.now() - sent_upstream_);
    pool.responded(upstream_->server(), status);
}

void session::exchange_failed(proxy::failure why, bool begun)
{
    if (last_server_ && proxy::is_after_sending(why)) {
        admitter_.pool().count_failure(why);
        if (!begun) {
            admitter_.pool().did_not_respond(*last_server_, why, last_was_reused_);
        }
    }
    state_.exchange_failed(why, begun);
}

}  // namespace gateway::server
