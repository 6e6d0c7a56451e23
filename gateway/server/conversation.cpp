#include "gateway/server/conversation.hpp"

#include "gateway/server/session.hpp"

namespace gateway::server {

void conversation::want_upstream_bytes(bool client_blocked)
{
    if (upstream_ != nullptr && state_.wants_upstream_bytes(client_blocked)) {
        upstream_->want_read();
    }
}

// ---- events of the upstream and of the limits ------------------------------------------------

void conversation::upstream_readable()
{
    std::span<char> bytes;
    const net::received got = upstream_->receive(bytes);
    if (got == net::received::data) {
        state_.upstream_bytes(bytes);
    } else if (got != net::received::nothing) {
        state_.upstream_closed(got == net::received::closed);
    }
    client_->after_event(got != net::received::nothing);
}

void conversation::upstream_held_back()
{
    client_->after_event(false);
}

void conversation::upstream_drained()
{
    state_.upstream_drained();
    client_->after_event();
}

// A request that could not be sent whole may have been answered already: read that first.
void conversation::upstream_broken()
{
    upstream_->want_read();
}

void conversation::leased(proxy::upstream_connection& c)
{
    take(c);
    state_.leased();
    client_->after_event();
}

void conversation::lease_failed(proxy::failure why)
{
    state_.lease_failed(why);
    client_->after_event();
}

void conversation::decided(const verdict& v)
{
    env_.loop.refresh_now();
    state_.admitted(admitter_.conclude(v));
    client_->after_event();
}

// ---- what the state asks for -----------------------------------------------------------------

void conversation::send_client(std::string_view a, std::string_view b)
{
    if (client_->send(a, b) == net::sent::broken) {
        client_->want_read();  // the end is noticed there, outside of whatever called us
    }
}

bool conversation::client_blocked() const
{
    return client_->sending();
}

void conversation::end_sending()
{
    client_->finish_sending();
}

void conversation::close_client(bool reset)
{
    client_->end(reset);
}

conversation::lease_result conversation::lease(bool fresh)
{
    proxy::pool& pool = admitter_.pool();
    only_once_ = !state_.may_retry() || pool.options().retry_budget == 0;
    proxy::lease_wish wish{.fresh = fresh, .surely_open = only_once_};
    if (fresh) {  // the connection before it ended without a byte
        wish.last_failure = proxy::failure::reset;
        if (!pool.take_retry(last_was_reused_)) {
            lease_failure_ = proxy::failure::reset;
            return lease_result::failed;
        }
        const std::uint64_t last = std::uint64_t{1} << *last_server_;
        const bool at_fault =
            pool.did_not_respond(*last_server_, wish.last_failure, last_was_reused_);
        (at_fault ? wish.passed_over : wish.last_resort) = last;
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
    take(*answer.connection);
    return lease_result::ready;
}

void conversation::take(proxy::upstream_connection& c)
{
    upstream_ = &c;
    c.lease_to(this);
    ++sending_.attempts;
    sending_.server = static_cast<std::uint8_t>(c.server());
}

void conversation::send_upstream(std::string_view a, std::string_view b)
{
    last_sent_upstream_ = env_.loop.now();
    if (upstream_->send(a, b) == net::sent::broken) {
        upstream_->want_read();
    }
    if (only_once_ && upstream_->reused()) {
        upstream_->send_gathered();  // before the server closes a connection that was just open
    }
}

void conversation::release(parting how)
{
    pending_lease::abandon();
    if (upstream_ != nullptr) {
        last_server_ = static_cast<std::uint8_t>(upstream_->server());
        last_was_reused_ = upstream_->reused();
        if (how == parting::reset) {
            upstream_->reset();
        }
        admitter_.pool().give_back(*upstream_, how == parting::keep);
        upstream_ = nullptr;
    }
}

void conversation::response(const http::response_head& head)
{
    count_response(head.status);
    state_.response(head);
}

void conversation::switched(const http::response_head& head, std::string_view rest)
{
    count_response(head.status);
    state_.switched(head, rest);
}

void conversation::count_response(int status)
{
    proxy::pool& pool = admitter_.pool();
    sending_.took = env_.loop.now() - last_sent_upstream_;
    pool.metrics().duration.observe(sending_.took);
    pool.responded(upstream_->server(), status);
}

void conversation::exchange_failed(proxy::failure why, bool begun)
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
