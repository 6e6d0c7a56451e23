#include "gateway/limits/admitter.hpp"

#include "gateway/intake/request_shape.hpp"
#include "gateway/limits/checks/check_request.hpp"
#include "gateway/limits/log_fields.hpp"
#include "gateway/limits/verdict_notes.hpp"
#include "gateway/policy/paths/path.hpp"

#include <algorithm>

namespace gateway::limits {

namespace {

admission as_admission(const intake::refusal& refused)
{
    if (refused.why == intake::refusal::reason::body_too_large) {
        return body_too_large();
    }
    admission a = refusal(refused.status, refused.detail);
    if (refused.why == intake::refusal::reason::long_content) {
        a.bound = "http.max_inspected_body";
        a.leaves_rest_unread = true;
    }
    if (refused.why == intake::refusal::reason::final_recipient) {
        a.extra = {"Allow", "OPTIONS"};
    }
    return a;
}

}  // namespace

void admitter::reset(
    const std::shared_ptr<const policy_view>& view,
    const base::ip_address& peer,
    bool secure,
    const intake::client_tls* tls
)
{
    record_.arrive(view, peer, secure, tls, clock_.now());
}

admission admitter::admit(
    const http::request_head& head, const http::request_head& came, verdict_listener& listener
)
{
    const policy::policy& policy = *record_.view->policy;
    record_.by.authority = came.authority;
    const intake::routed_request routed =
        intake::route_request(record_.view->intake(), head, record_.by, scratch_.intake);
    record_.client = routed.client;
    if (routed.route != nullptr) {
        record_.route = routed.route;
        record_.metrics = record_.view->routes[routed.route_index];
    }
    intake::key_subject subject =
        intake::key_subject_of(policy, head, record_.by, routed, scratch_.intake);
    const admission a = admit_routed(head, routed, subject, listener);
    if (!policy.log_fields.empty() && a.next != admission::action::read) {
        note_log_fields(subject, a);
    }
    return a;
}

// Decides about a request whose route was looked for. Puts its token into `subject`, if limits have
// verified it.
admission admitter::admit_routed(
    const http::request_head& head,
    const intake::routed_request& routed,
    intake::key_subject& subject,
    verdict_listener& listener
)
{
    if (routed.refused.status != 0) {
        return as_admission(routed.refused);
    }
    if (routed.wants_content) {
        admission a;
        a.next = admission::action::read;
        return a;
    }
    if (record_.is_answered()) {
        prepare_redirect(head);
    }
    if (record_.route->limits.empty()) {
        return {};
    }
    check_ = checks_.borrow();
    const request_check check =
        check_request(*check_, *record_.view, *record_.route, subject, listener);
    admission a;
    a.next = admission::action::wait;
    switch (check.is) {
        case request_check::state::decided:
            return conclude(*check.verdict);
        case request_check::state::asked:
            record_.store_asked = clock_.now();
            return a;
        case request_check::state::awaits_keys:
            checks_.take_back(std::move(check_));
            a.awaits_keys = true;
            return a;
        case request_check::state::lacks_keys:
            checks_.take_back(std::move(check_));
            return without_keys(check.limit);
    }
    return a;
}

// Refuses a request whose token no key can verify, as none has been fetched yet.
admission admitter::without_keys(std::size_t limit)
{
    using telemetry::outcome;
    record_.decided = clock_.now();
    record_.deciding_limit = record_.view->policy->limits[limit].name;
    record_.outcome = telemetry::outcome_names[static_cast<std::size_t>(outcome::failed_closed)];
    record_.view->limits[limit]->count(outcome::failed_closed);
    record_.refused_for = telemetry::refusal_reason::failed_closed;
    const admission a = keys_not_fetched();
    record_.retry_after = a.retry_after;
    return a;
}

// Reads the fields that the access log has of the request. A token that limits have not verified is
// verified now, unless the request is refused: a flood of tokens must not cost more than other
// refused requests.
void admitter::note_log_fields(intake::key_subject& subject, const admission& a)
{
    const policy::policy& policy = *record_.view->policy;
    const intake::request_token& token = subject.token;
    if (policy.logs_claims && token.verified == nullptr && !token.ambiguous && !token.forged) {
        const bool refused = a.next == admission::action::respond;
        subject.token = intake::find_token(
            *subject.head,
            *policy.token,
            *record_.view->tokens,
            base::unix_time(),
            refused ? intake::unknown_token::is_passed_over : intake::unknown_token::is_verified
        );
    }
    read_log_fields(policy.log_fields, subject, record_.log_fields);
}

void admitter::prepare_redirect(const http::request_head& head)
{
    location_.clear();
    const auto& to = record_.route->shape.answer->to;
    if (!to) {
        return;
    }
    std::string host;
    policy::normalise_host(head.authority, host);
    if (host.empty() && to->names_host()) {
        return;
    }
    to->append(intake::location_subject(record_.route->shape, head, host), location_);
}

admission admitter::answer() const
{
    const policy::route_answer& configured = *record_.route->shape.answer;
    if (configured.to && location_.empty()) {
        return refusal(
            400, "the request names no host, and where it is redirected to depends on it"
        );
    }
    admission a;
    a.next = admission::action::respond;
    a.status = configured.response.status;
    a.intended = true;
    a.stays_http = true;
    if (configured.to) {
        a.extra = {"Location", location_};
    }
    a.fixed = &configured.response;
    return a;
}

admission admitter::as_rejection(admission a, bool banned)
{
    if (!banned && record_.may_be_over_limit()) {
        record_.over_limit = true;
        record_.refused_for.reset();
        record_.retry_after = {};
        admission elsewhere;
        elsewhere.over_limit = record_.deciding_limit;
        return elsewhere;
    }
    if (const auto& configured = record_.route->rejection) {
        a.status = configured->page.status;
        a.fixed = configured->file.empty() ? nullptr : &configured->page;
    }
    return a;
}

admission admitter::as_turned_away(base::duration hold)
{
    using telemetry::outcome;
    record_.outcome = telemetry::outcome_names[static_cast<std::size_t>(outcome::rejected)];
    record_.refused_for = telemetry::refusal_reason::rejected;
    record_.retry_after = hold;
    for (http::limit_report& r : record_.reports) {
        r.decision.allowed = r.decision.retry_after == base::duration{0};
        r.warns = false;
        r.decision.reset_after += hold;  // nobody waits, so it counts from now
    }
    record_.reports_from -= record_.reports_from == base::duration{0} ? base::duration{0} : hold;
    admission a = refusal(429, "too many requests wait for their tokens; retry later", hold);
    a.intended = true;
    return as_rejection(a, false);
}

http::forward_options admitter::forwarding(const http::request_head& head, bool over_limit) const
{
    http::forward_options options{
        .peer = record_.peer_text,
        .secure = record_.by.secure,
        .peer_trusted = record_.by.peer_trusted,
        .identity_header = record_.view->client_header.name(),
        .identity_field = record_.view->client_header.id(),
        .default_host = record_.is_answered() ? std::string_view{}
                                              : record_.pool_if(over_limit).names().default_host(),
        .via_name = record_.view->via_name,
        .identity_coding = record_.route->reads_usage,
    };
    if (record_.route->shaped) {
        intake::shape(record_.route->shape, head, options);
    }
    return options;
}

admission admitter::conclude(const verdict& v)
{
    record_.decided = clock_.now();
    const verdict::ruling is = v.is;
    const bool allowed = is == verdict::ruling::allowed;
    const auto hold = allowed && record_.route->holds ? v.hold() : base::duration{0};
    const bool held = hold > base::duration{0};
    remember(v, hold);
    if (record_.route->counts_permits || record_.route->corrects || held) {
        record_.reserved.begin(record_.view, record_.is_grpc);
        check_->reserve(held ? reserving::everything : reserving::outcomes, record_.reserved);
    }
    if (allowed) {
        check_->owe(record_.view, record_.reserved);
    }
    const auto wait = retry_wait(v);
    const bool banned = v.banned();
    const intake::key_fault fault = v.fault;
    checks_.take_back(std::move(check_));  // `v` lives in the check and ends here
    admission a = admission_of(is, wait, banned);
    if (is == verdict::ruling::unidentified) {
        detail_ = described(fault);
        a.detail = detail_;
    }
    a.hold = hold;
    a.intended = !allowed;
    record_.refused_for = refusal_reason_of(is);
    record_.retry_after = a.retry_after;
    return is == verdict::ruling::rejected ? as_rejection(a, banned) : a;
}

// Keeps what the response and the log say of the verdict. Times that are reported to clients count
// from the moment at which the request is let go.
void admitter::remember(const verdict& v, base::duration hold)
{
    note_verdict(*check_, v, record_);
    for (http::limit_report& r : record_.reports) {
        r.decision.reset_after = std::max(r.decision.reset_after - hold, base::duration{0});
    }
    if (record_.view->limit_headers.reset_as_epoch) {
        record_.reports_from = base::unix_time() + hold;
    }
}

void admitter::abandon(std::uint64_t request_bytes)
{
    if (check_ != nullptr) {
        abandoned_.keep(
            std::move(check_), {record_.view, record_.route, record_.is_grpc, request_bytes}
        );
    }
}

}  // namespace gateway::limits
