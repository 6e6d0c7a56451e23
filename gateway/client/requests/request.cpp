#include "gateway/client/requests/request.hpp"

#include "gateway/client/requests/asked_request.hpp"
#include "gateway/client/requests/id_source.hpp"
#include "gateway/client/requests/request_names.hpp"
#include "gateway/http/grpc/grpc_timeout.hpp"
#include "gateway/limits/reservations/corrections.hpp"

#include <utility>

namespace gateway::client {

// A proxy that asks for a decision understands HTTP only, whatever its client speaks.
void request::request_begins(bool is_grpc)
{
    kept_.reset();
    admitter_.reset(env_.view, host_->peer(), host_->is_secure(), host_->client_tls());
    record_.only_decided = host_->decide().has_value();
    record_.is_grpc = is_grpc && !record_.only_decided;
    host_->begin_timeouts_anew();
    give_id(record_, env_.ids, env_.loop.now());
    account_.begin();
}

limits::admission request::admit(const http::request_head& head)
{
    take_names(record_, head, env_.ids);
    if (host_->decide()) {
        return answer(head);
    }
    account_.note(head, record_);
    if (!host_->rate_limit_service().empty()) {
        limits::admission a = limits::refusal(505, "this listener serves gRPC over HTTP/2 only");
        a.intended = true;
        return a;
    }
    record_.by.content = intake::unread_content(*record_.view->policy, head);
    return decide_about(head);
}

limits::admission request::decide_about(const http::request_head& head)
{
    using action = limits::admission::action;
    const limits::admission a = answered_or(held_or(admitter_.admit(head, head, *this)));
    if (a.next == action::read) {
        kept_ = std::make_unique<kept_request>(
            head, record_.view->policy->request_paths, record_.http().max_inspected_body, env_.ahead
        );
        begin_timeout(head);
        return a;
    }
    keep_text(head, a);
    if (a.awaits_keys) {
        awaiting_ = std::make_unique<kept_head>(head);
    }
    if (a.next != action::respond) {
        begin_timeout(head);
    }
    return a;
}

content_reading request::read(std::string_view content, bool last, std::string_view trailers)
{
    const content_reading is = kept_->read(content, last, trailers);
    if (is == content_reading::no_room) {
        env_.metrics.contents_refused.add();
    }
    return is;
}

// Decides by the content. The request ends if what came behind the part that counts shows that its
// content is not what it seemed to be. It was charged all the same, so that nobody can try at no
// cost.
limits::admission request::admit_by_content()
{
    record_.by.content = kept_->values();
    const limits::admission a = decide_about(kept_->ahead().head);
    if (record_.route != nullptr && record_.route->rpc_id_path) {
        record_.rpc_id = record_.by.content.values->as_rpc_id(*record_.route->rpc_id_path);
    }
    if (a.next == limits::admission::action::respond || a.awaits_keys ||
        kept_->read_rest(paths_that_count())) {
        return a;
    }
    record_.reserved.keep_charges();
    return limits::content_unclear_later();
}

bool request::read_on(std::string_view content, bool last)
{
    const bool is_good = kept_->read_on(content, last, paths_that_count());
    if (!is_good) {
        record_.reserved.keep_charges();
    }
    return is_good;
}

content::path_set request::paths_that_count() const
{
    return intake::paths_that_count(*record_.view->policy, *record_.route);
}

bool request::awaits_keys()
{
    const base::instant now = env_.loop.now();
    if (!keys_until_) {
        keys_until_ = now + record_.view->policy->token->fetch_timeout;
    }
    return now < *keys_until_ && env_.key_fetches.is_worth_waiting(now) &&
           env_.awaiting_keys.hold(*this, *keys_until_, limits::key_fetches::max_waiting);
}

// Decides again about a request that has waited for keys, by the configuration that has them.
void request::admit_anew()
{
    const std::unique_ptr<kept_head> kept = std::move(awaiting_);
    const auto before = record_.view;  // kept content has been read by its paths
    record_.adopt(env_.view);
    limits::admission a;
    if (host_->decide()) {
        a = answer(kept->head());
    } else if (kept_ != nullptr) {
        kept_->read_anew(record_.view->policy->request_paths);
        a = admit_by_content();
    } else {
        record_.by.content = intake::unread_content(*record_.view->policy, kept->head());
        a = decide_about(kept->head());
    }
    state_.admitted_anew(kept->head(), a);
    host_->after_event(true);
}

// Keeps the text of a request that its limits have rejected, or that waits for a store's answer.
void request::keep_text(const http::request_head& head, const limits::admission& a)
{
    if (record_.refused_for || a.next == limits::admission::action::wait) {
        account_.may_be_rejected(head);
    }
}

// Returns the answer of the route if that has one instead of an upstream and the request may go on;
// otherwise `a`.
limits::admission request::answered_or(limits::admission a) const
{
    const bool answered = a.next == limits::admission::action::forward && record_.is_answered();
    return answered ? admitter_.answer() : a;
}

// Answers a proxy that asks if a request may pass.
limits::admission request::answer(const http::request_head& check)
{
    http::request_head& asked = env_.scratch.asked;
    const auto refused = read_asked_request(check, record_.by.peer_trusted, asked);
    if (!keys_until_) {  // otherwise it is judged again
        account_.note(asked, record_);
    }
    const limits::admission a = refused ? limits::refusal(refused->status, refused->detail)
                                        : held_or(admitter_.admit(asked, check, *this));
    keep_text(asked, a);
    if (a.awaits_keys) {
        awaiting_ = std::make_unique<kept_head>(check);
    }
    return as_answer(a);
}

// Turns an admission into the answer to the proxy that asks. A request that no route matches (404)
// may pass, too, as no limit is for it. The gateway never sees the response to a request that may
// pass, so its charge stays.
limits::admission request::as_answer(limits::admission a)
{
    if (a.next == limits::admission::action::wait) {
        return a;
    }
    const bool matches_no_route = a.status == 404 && record_.route == nullptr;
    if (a.next == limits::admission::action::forward || matches_no_route) {
        record_.reserved.keep_charges();
        return limits::refusal(200, {});
    }
    const int status = host_->decide()->rejected_status;
    if (status != 0 && a.status >= 400) {
        decision_status_ = std::to_string(a.status);
        a.extra = {"X-Decision-Status", decision_status_};
        a.status = status;
        a.intended = true;
        a.fixed = nullptr;
    }
    return a;
}

// Holds the request until its tokens are there, if they are still to come.
limits::admission request::held_or(limits::admission a)
{
    record_.reserved.keep_permits(env_.permit_leases);
    if (a.next != limits::admission::action::forward) {
        return a;
    }
    if (a.hold == base::duration{0}) {
        record_.reserved.passes(env_.fallback_debts);
        return a;
    }
    if (!env_.held.hold(*this, env_.loop.now() + a.hold, record_.view->max_waiting)) {
        record_.reserved.refund(env_.corrections, env_.permit_leases, nullptr);
        return admitter_.as_turned_away(a.hold);
    }
    record_.held = true;
    a.next = limits::admission::action::wait;
    return a;
}

std::optional<http::forward_options> request::forwarding_over_limit(const http::request_head& head)
{
    return record_.may_be_over_limit() ? std::optional{forwarding_if(head, true)} : std::nullopt;
}

http::forward_options request::forwarding_if(const http::request_head& head, bool over_limit)
{
    http::forward_options options = admitter_.forwarding(head, over_limit);
    options.request_id = record_.id.text();
    if (record_.trace) {
        trace_parent_ = record_.trace->for_server();
        options.trace_parent = {trace_parent_.data(), trace_parent_.size()};
    } else if (head.malformed_trace) {
        trace_parent_ = env_.ids.trace_parent();
        options.trace_parent = {trace_parent_.data(), trace_parent_.size()};
    }
    const intake::client_tls* const tls = host_->client_tls();
    if (tls != nullptr && tls->forwarded && tls->certificate) {
        options.client_cert = tls->certificate->field;
        options.client_cert_chain = tls->certificate->chain_field;
    }
    return options;
}

http::added_fields request::added_fields() const
{
    http::added_fields added{
        .limits = record_.limit_statement(),
        .request_id = record_.id.text(),
        .edits = record_.response_edits(),
        .errors = record_.error_style(),
    };
    if (host_->decide()) {  // Its client would take 200 for leave to go on.
        added.edits = nullptr;
        added.errors.rejects_with_200 = false;
    }
    return added;
}

void request::decided(const limits::verdict& v)
{
    env_.loop.refresh_now();
    const limits::admission a = held_or(admitter_.conclude(v));
    if (a.next == limits::admission::action::wait) {
        host_->after_event(true);
    } else {
        settled(a);
    }
}

void request::hold_is_over()
{
    if (awaiting_ != nullptr) {
        env_.loop.refresh_now();
        admit_anew();
        return;
    }
    record_.released = env_.loop.refresh_now();
    record_.reserved.passes(env_.fallback_debts);
    settled({});
}

// Starts the route's timeout, or that of a client of gRPC if it is shorter. A request for a
// decision has none, as nobody awaits an upstream.
void request::begin_timeout(const http::request_head& head)
{
    constexpr base::duration none{0};
    base::duration timeout = record_.route->timeout;
    has_deadline_ = false;
    if (head.grpc && !head.grpc_timeout.empty()) {
        const auto allowed = http::read_grpc_timeout(head.grpc_timeout);
        has_deadline_ = allowed && (timeout == none || *allowed < timeout);
        timeout = has_deadline_ ? *allowed : timeout;
    }
    if (timeout > none) {
        env_.loop.wheel().arm(*this, record_.received + timeout);
    } else {  // A decision made anew may have led it to another route.
        env_.loop.wheel().disarm(*this);
    }
}

// Ends the request, as its time is up. If that is its route's, the upstream is at fault if it has
// been silent for at least half of it.
void request::expired(base::instant)
{
    const base::instant now = env_.loop.refresh_now();
    if (has_deadline_) {
        state_.deadline_passed();
    } else {
        const auto asked = upstream_.asked_at();
        state_.out_of_time(asked && (now - *asked) * 2 >= record_.route->timeout);
    }
    host_->after_event(true);
}

void request::settled(const limits::admission& a)
{
    state_.admitted(host_->decide() ? as_answer(a) : answered_or(a));
    host_->after_event(true);
}

void request::tunnel_begins()
{
    env_.loop.wheel().disarm(*this);
    account_.tunnel_begins(record_);
}

void request::tunnel_carries(proxy::tunnel_side from, std::size_t bytes)
{
    account_.tunnel_carries(from, bytes);
}

// Returns the outcome for the client: what the gateway has made it, or what the upstream's response
// says.
http::grpc_status request::outcome_of(const limits::finished& f) const
{
    if (f.grpc) {
        return *f.grpc;
    }
    const bool has_response = record_.grpc.status() != 0;
    return has_response ? record_.grpc.ended(f.trailers) : http::implied_grpc_status(f.status);
}

void request::request_ends(const limits::finished& f)
{
    env_.loop.wheel().disarm(*this);
    admitter_.abandon(f.request_bytes);
    limits::reservation& reserved = record_.reserved;
    if (record_.is_grpc) {
        record_.grpc_status = outcome_of(f);
    }
    if (awaiting_ != nullptr) {
        env_.awaiting_keys.release(*this);
        awaiting_.reset();
    }
    keys_until_.reset();
    if (held()) {
        reserved.refund(env_.corrections, env_.permit_leases, &record_.costs);
        env_.held.release(*this);
    } else if (!reserved.empty()) {
        const policy::response_end end{
            .usage = record_.usage.get(),
            .request_bytes = f.request_bytes,
            .response_bytes = f.response_bytes,
            .given_up = f.status == 0 || f.given_up};
        const policy::response_result as{
            .status = f.status, .grpc = record_.grpc_status, .end = &end};
        reserved.responded(as, nullptr, env_.corrections, &record_.costs);
    }
    if (!reserved.empty()) {
        reserved.ended(env_.corrections, env_.permit_leases);
    }
    record_.end = f;
    kept_.reset();
    account_.end(record_);
}

}  // namespace gateway::client
