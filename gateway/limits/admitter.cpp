#include "gateway/limits/admitter.hpp"

#include "gateway/identity/client_address.hpp"
#include "gateway/intake/request_shape.hpp"
#include "gateway/limits/check_request.hpp"
#include "gateway/policy/path.hpp"

#include <algorithm>
#include <random>

namespace gateway::limits {

namespace {

admission as_admission(const intake::refusal& refused)
{
    if (refused.why == intake::refusal::reason::body_too_large) {
        return body_too_large();
    }
    admission a = refusal(refused.status, refused.detail);
    if (refused.why == intake::refusal::reason::final_recipient) {
        a.extra = "Allow: OPTIONS\r\n";
    }
    return a;
}

// Returns the wait that a rejected client is told, or nothing if no time would help. Jitter only
// adds to it, so it is never shorter than the true wait.
std::optional<base::duration> told_wait(const verdict& v)
{
    const auto wait = v.retry_after();
    const int percent = v.jitter();
    if (!wait || percent == 0) {
        return wait;
    }
    thread_local std::minstd_rand random{std::random_device{}()};
    const std::int64_t most = wait->count() / 100 * percent;
    return *wait + base::duration{std::uniform_int_distribution<std::int64_t>{0, most}(random)};
}

std::optional<telemetry::refusal_reason> refusal_reason_of(verdict::ruling is)
{
    using telemetry::refusal_reason;
    switch (is) {
        case verdict::ruling::allowed:
            break;
        case verdict::ruling::rejected:
            return refusal_reason::rejected;
        case verdict::ruling::unavailable:
            return refusal_reason::failed_closed;
        case verdict::ruling::unidentified:
            return refusal_reason::missing_key;
        case verdict::ruling::blocked:
            return refusal_reason::blocked;
        case verdict::ruling::bad_cost:
            return refusal_reason::bad_cost;
    }
    return std::nullopt;
}

}  // namespace

void admitter::reset(
    const std::shared_ptr<const policy_view>& view,
    const base::ip_address& peer,
    bool secure,
    const intake::client_tls* tls
)
{
    by_.secure = secure;
    by_.tls = tls;
    if (view_ != view || by_.peer != peer) {  // otherwise the last request's values still hold
        view_ = view;
        by_.peer = peer;
        peer_text_ = peer.to_string();
        by_.peer_trusted = identity::is_trusted(view_->policy->client, peer);
    }
    route_ = nullptr;
    reserved_.clear();
    metrics_ = view_->no_route;
    client_ = peer;
    reports_.clear();
    deciding_limit_ = {};
    outcome_ = {};
    refused_for_.reset();
    bucket_name_.clear();
    shadow_rejected_.clear();
    plans_.clear();
}

admission admitter::admit(
    const http::request_head& head, const http::request_head& came, verdict_listener& listener
)
{
    const policy::policy& policy = *view_->policy;
    by_.authority = came.authority;
    const intake::routed_request routed =
        intake::route_request(view_->intake(), head, by_, scratch_.intake);
    client_ = routed.client;
    if (routed.route != nullptr) {
        route_ = routed.route;
        metrics_ = view_->routes[routed.route_index];
    }
    if (routed.refused.status != 0) {
        return as_admission(routed.refused);
    }
    if (is_answered()) {
        prepare_redirect(head);
    }
    if (route_->limits.empty()) {
        return {};
    }
    intake::key_subject subject =
        intake::key_subject_of(policy, head, by_, routed, scratch_.intake);
    check_ = checks_.borrow();
    const verdict* const v = check_request(*check_, *view_, *route_, subject, listener);
    if (v == nullptr) {
        admission a;
        a.next = admission::action::wait;
        return a;
    }
    return conclude(*v);
}

void admitter::prepare_redirect(const http::request_head& head)
{
    location_.clear();
    const auto& to = route_->shape.answer->to;
    if (!to) {
        return;
    }
    std::string host;
    policy::normalise_host(head.authority, host);
    if (host.empty() && to->names_host()) {
        return;
    }
    location_ = "Location: ";
    to->append(intake::location_subject(route_->shape, head, host), location_);
    location_ += "\r\n";
}

admission admitter::answer() const
{
    const policy::route_answer& said = *route_->shape.answer;
    if (said.to && location_.empty()) {
        return refusal(
            400, "the request names no host, and where it is redirected to depends on it"
        );
    }
    admission a;
    a.next = admission::action::respond;
    a.status = said.response.status;
    a.intended = true;
    a.extra = location_;
    a.fixed = &said.response;
    return a;
}

admission admitter::as_rejection(admission a) const
{
    if (const auto& said = route_->rejection) {
        a.status = said->page.status;
        a.fixed = said->file.empty() ? nullptr : &said->page;
    }
    return a;
}

admission admitter::as_turned_away(base::duration hold)
{
    using telemetry::outcome;
    outcome_ = telemetry::outcome_names[static_cast<std::size_t>(outcome::rejected)];
    refused_for_ = telemetry::refusal_reason::rejected;
    for (http::limit_report& r : reports_) {
        r.decision.allowed = r.decision.retry_after == base::duration{0};
        r.decision.reset_after += hold;  // nobody waits, so it counts from now
    }
    decided_at_ -= decided_at_ == base::duration{0} ? base::duration{0} : hold;
    admission a = refusal(429, "too many requests wait for their tokens; retry later", hold);
    a.intended = true;
    return as_rejection(a);
}

http::forward_options admitter::forwarding(const http::request_head& head) const
{
    http::forward_options options{
        .peer = peer_text_,
        .secure = by_.secure,
        .peer_trusted = by_.peer_trusted,
        .identity_header = view_->client_header.name(),
        .identity_field = view_->client_header.id(),
        .default_host = is_answered() ? std::string_view{} : pool().names().default_host(),
        .via_name = view_->via_name,
    };
    if (route_->shaped) {
        intake::shape(route_->shape, head, options);
    }
    return options;
}

admission admitter::conclude(const verdict& v)
{
    const verdict::ruling is = v.is;
    const bool allowed = is == verdict::ruling::allowed;
    const auto hold = allowed && route_->holds ? v.hold() : base::duration{0};
    const bool held = hold > base::duration{0};
    remember(v, hold);
    if (route_->counts_places || route_->corrects || held) {
        reserve(held ? reserving::everything : reserving::outcomes);
    }
    if (allowed) {
        check_->owe(view_, reserved_);
    }
    const auto wait = told_wait(v);
    const bool banned = v.banned();
    const intake::key_fault fault = v.fault;
    checks_.give_back(std::move(check_));  // `v` lives in the check and ends here
    admission a = admission_of(is, wait, banned);
    if (is == verdict::ruling::unidentified) {
        detail_ = described(fault);
        a.detail = detail_;
    }
    a.hold = hold;
    a.intended = !allowed;
    refused_for_ = refusal_reason_of(is);
    return is == verdict::ruling::rejected ? as_rejection(a) : a;
}

// Keeps what the response and the log say of the verdict. Times that clients are told count from
// the moment at which the request is let go.
void admitter::remember(const verdict& v, base::duration hold)
{
    plans_ = v.plans;
    if (const auto* e = v.deciding()) {
        deciding_limit_ = e->rule->name;
        if (v.is != verdict::ruling::unidentified && v.is != verdict::ruling::bad_cost) {
            outcome_ = telemetry::outcome_names[static_cast<std::size_t>(e->what)];
        }
        if (e->what != telemetry::outcome::allowed) {
            bucket_name_ = check_->bucket_name(static_cast<std::size_t>(e - v.entries.data()));
            v.append_shadow_rejections(shadow_rejected_);
        }
    }
    v.reports(reports_);
    for (http::limit_report& r : reports_) {
        r.decision.reset_after = std::max(r.decision.reset_after - hold, base::duration{0});
    }
    if (view_->limit_headers.reset_as_epoch) {
        decided_at_ = base::unix_time() + hold;
    }
}

void admitter::reserve(reserving what)
{
    reserved_.begin(view_);
    check_->reserve(what, reserved_);
}

void admitter::abandon()
{
    if (check_ != nullptr) {
        check_->abandon();
        if (route_->counts_places) {
            reserve(reserving::places);
        }
        checks_.give_back(std::move(check_));
    }
}

}  // namespace gateway::limits
