#include "gateway/client/requests/upstream_side.hpp"

#include "gateway/client/bounded_log.hpp"
#include "gateway/client/requests/abandoned_exchanges.hpp"
#include "gateway/client/requests/id_source.hpp"
#include "gateway/http/media_type.hpp"
#include "gateway/limits/reservations/corrections.hpp"
#include "gateway/limits/reservations/settlement.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace gateway::client {

// ---- the carrier -----------------------------------------------------------------------------

proxy::exchange_port::lease_progress upstream_side::lease(bool fresh)
{
    pool_ = &record_.pool();
    asked_ = env_.loop.now();
    record_.attempts.unserved = asked_;
    if (request_.may_switch() && upstream().protocol == proxy::upstream_protocol::http2) {
        lease_failure_ = proxy::failure::websocket;
        pool_->conduct().count_failure(lease_failure_);
        return lease_progress::failed;
    }
    only_once_ = !request_.may_retry() || pool_->options().retry_budget == 0;
    proxy::lease_wish wish{.fresh = fresh, .surely_open = only_once_};
    if (fresh) {  // The connection before it ended without a byte.
        wish.last_failure = proxy::failure::reset;
        if (!pool_->conduct().take_retry(last_was_reused_ || last_has_refused_)) {
            lease_failure_ = proxy::failure::reset;
            return lease_progress::failed;
        }
        const std::uint64_t last = std::uint64_t{1} << *last_server_;
        const bool at_fault =
            pool_->conduct().did_not_respond(*last_server_, wish.last_failure, last_was_reused_);
        const bool is_out = at_fault && !last_has_refused_;
        (is_out ? wish.passed_over : wish.last_resort) = last;
    }
    last_server_.reset();
    if (pool_->options().balance == proxy::balancing::hash) {
        wish.key = proxy::key_of(record_.client_prefix());
    }
    if (pool_->options().proxy_protocol == proxy::header_version::v2) {
        wish.ends = host_->client_ends();
    }
    const auto got = pool_->lease(*this, wish);
    if (got.failed) {
        lease_failure_ = *got.failed;
        note_failure(lease_failure_);
        return lease_progress::failed;
    }
    if (got.carrier == nullptr) {
        return lease_progress::pending;
    }
    take(*got.carrier);
    return lease_progress::ready;
}

void upstream_side::take(proxy::upstream_carrier& c)
{
    carrier_ = &c;
    c.lease_to(this);
    limits::attempts& attempts = record_.attempts;
    assert(attempts.count < limits::attempts::most);
    attempts.unserved.reset();
    attempts.all[attempts.count++] = {
        .server = static_cast<std::uint8_t>(c.server()),
        .span = record_.trace ? record_.trace->attempt : 0,
        .asked = asked_,
        .connected = env_.loop.now()};
}

// Puts the span of the next attempt into traceparent. The value is looked for as it was written:
// it has a random number that nobody else knew. It is missing if the route removes the field.
void upstream_side::begin_retry(std::string& head)
{
    if (!record_.trace) {
        return;
    }
    const http::trace_parent_text before = record_.trace->for_server();
    record_.trace->attempt = env_.ids.random() | 1;
    const http::trace_parent_text after = record_.trace->for_server();
    const std::size_t at = head.rfind(std::string_view(before.data(), before.size()));
    if (at != std::string::npos) {
        head.replace(at, after.size(), after.data(), after.size());
    }
}

void upstream_side::note_failure(proxy::failure why)
{
    if (proxy::is_before_sending(why)) {
        record_.attempts.unreachable = pool_->conduct().last_complaint();
    }
}

bool upstream_side::another_lease_may_help() const
{
    return carrier_->reused() || pool_->has_several_servers();
}

// A request that may be sent only once leaves now, before the server closes the connection that was
// just found open.
void upstream_side::send_head(std::string_view head, const http::framing& body)
{
    note_sent();
    carrier_->send_head(head, body, only_once_ && carrier_->reused());
}

// Hides what the route removes from requests, what may name the client, and the headers that limits
// and routes depend on: they saw the head alone, and a server may add the trailers to it.
bool upstream_side::hides_from_upstream(std::string_view name) const
{
    const auto is_it = [name](const std::string& read) { return http::reads_as(name, read); };
    const auto& read_headers = record_.view->policy->read_headers;
    const policy::route& route = *record_.route;
    return (route.shaped && route.shape.request.takes_out(name)) ||
           is_it(record_.view->client_header.name()) ||
           std::any_of(read_headers.begin(), read_headers.end(), is_it);
}

// Hides what the route removes from responses, and costs that are meant for the gateway.
bool upstream_side::hides_from_client(std::string_view name) const
{
    const http::field_edits* const edits = record_.response_edits();
    return (edits != nullptr && edits->takes_out(name)) ||
           limits::is_hidden_settlement(*record_.view->policy, *record_.route, name);
}

void upstream_side::want_bytes()
{
    if (carrier_ != nullptr && request_.wants_upstream_bytes()) {
        carrier_->await_bytes();
    }
}

void upstream_side::release(disposition how)
{
    pending_lease::abandon();
    if (carrier_ != nullptr) {
        pool_->release(detach_carrier(), how);
    }
}

proxy::upstream_carrier& upstream_side::detach_carrier()
{
    last_server_ = record_.attempts.last().server;
    last_was_reused_ = carrier_->reused();
    last_has_refused_ = carrier_->why_lost() == proxy::loss::refused;
    return *std::exchange(carrier_, nullptr);
}

bool upstream_side::finishes_without_client() const
{
    return record_.route->on_client_abort == policy::client_abort::finish;
}

// Hands the rest of the exchange to abandoned_exchanges. Gives the carrier back at once if
// the request is not to finish and holds no permit, or cannot learn when the server is done with
// it, or if there is no room.
void upstream_side::abandon(proxy::answer_state&& answer, proxy::abandon_until until)
{
    limits::reservation& reserved = record_.reserved;
    const bool finishes = until == proxy::abandon_until::finished;
    const bool holds_permit = pool_->is_bounded() || reserved.holds_permits();
    const bool is_awaited = finishes || (holds_permit && carrier_->tells_of_its_end());
    if (!is_awaited || !env_.abandoned.has_room(holds_permit)) {
        release(disposition::close);
        return;
    }
    env_.abandoned.keep(
        {.view = record_.view,
         .route = *record_.route,
         .pool = *pool_,
         .carrier = detach_carrier(),
         .holds_permit = holds_permit,
         .reserved = finishes ? std::exchange(reserved, {}) : reserved.part_with_permits(),
         .grpc = record_.grpc,
         .usage = finishes ? std::move(record_.usage) : nullptr,
         .request_bytes = request_.content_bytes(),
         .until = until,
         .time = response_timeout(),
         .sent_at = record_.attempts.last().sent},
        std::move(answer)
    );
}

// ---- reports on the server -------------------------------------------------------------------

void upstream_side::responded(http::response_head& head)
{
    limits::attempt& last = record_.attempts.last();
    last.took = env_.loop.now() - last.sent;
    last.status = head.status;
    head.announced_length = carrier_->announced_length();
    pool_->conduct().responded(last.server, head.status, last.took);
    if (limits::reservation& reserved = record_.reserved; !reserved.empty()) {
        reserved.responded({.status = head.status}, &head, env_.corrections, &record_.costs);
    }
    if (record_.is_grpc) {
        record_.grpc.read(head);
    }
    if (record_.route->reads_usage) {
        record_.usage = limits::make_usage_reader(record_.view->policy->response_paths, head);
        if (record_.usage == nullptr && http::is_coded(head.fields)) {
            log_coded_response(*record_.route, env_.loop.now());
        }
    }
    hide_settlements(head);
}

void upstream_side::hide_settlements(http::response_head& head) const
{
    if (record_.route->corrects) {
        limits::take_out_settlements(*record_.view->policy, *record_.route, head);
    }
}

void upstream_side::failed(proxy::failure why, bool begun)
{
    if (last_server_ && proxy::is_after_sending(why)) {
        pool_->conduct().count_failure(why);
        if (!begun) {
            pool_->conduct().did_not_respond(*last_server_, why, last_was_reused_);
        }
    }
}

// ---- events ----------------------------------------------------------------------------------

void upstream_side::upstream_readable()
{
    std::span<char> bytes;
    const net::received got = carrier_->receive_text(bytes, request_.response_room());
    if (got == net::received::data) {
        request_.upstream_bytes(bytes);
    } else if (got != net::received::nothing) {
        lose(got);
    }
    host_->after_event(got != net::received::nothing);
}

// Tells the request how its carrier has ended. Nothing is wrong with a server that has refused a
// request which another one takes.
void upstream_side::lose(net::received how)
{
    const std::size_t server = carrier_->server();
    const std::string what(carrier_->complaint());
    const bool orderly = how == net::received::closed;
    const proxy::loss why = orderly ? proxy::loss::ended : carrier_->why_lost();
    switch (why) {
        case proxy::loss::ended:
            request_.upstream_closed(orderly);
            break;
        case proxy::loss::refused:
            request_.upstream_refused();
            break;
        case proxy::loss::malformed:
            request_.upstream_malformed(false);
            break;
        case proxy::loss::malformed_connection:
            request_.upstream_malformed(true);
            break;
    }
    if (why != proxy::loss::refused || request_.at() == request_state::phase::idle) {
        pool_->conduct().complain(server, what);
    }
}

void upstream_side::upstream_backlog_changed()
{
    host_->after_event(false);
}

void upstream_side::upstream_drained()
{
    request_.drained();
    host_->after_event(true);
}

// Reads first, as a request that could not be sent whole may have been answered already.
void upstream_side::upstream_broken()
{
    carrier_->await_bytes();
}

void upstream_side::leased(proxy::upstream_carrier& c)
{
    take(c);
    request_.leased();
    host_->after_event(true);
}

void upstream_side::lease_failed(proxy::failure why)
{
    note_failure(why);
    request_.lease_failed(why);
    host_->after_event(true);
}

}  // namespace gateway::client
