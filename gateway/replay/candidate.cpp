#include "gateway/replay/candidate.hpp"

#include "gateway/identity/client_address.hpp"
#include "gateway/intake/request_charges.hpp"
#include "gateway/intake/routed_request.hpp"
#include "gateway/replay/word_list.hpp"

#include <algorithm>
#include <utility>

namespace gateway::replay {

namespace {

// Returns the policy with all limits in the local store.
std::shared_ptr<policy::policy> decided_here(const policy::policy& p)
{
    auto copy = std::make_shared<policy::policy>(p);
    for (policy::limit_rule& rule : copy->limits) {
        rule.store = policy::local_store;
    }
    return copy;
}

std::shared_ptr<const limits::policy_view> view_of(
    const candidate_options& options,
    std::shared_ptr<const policy::policy> policy,
    telemetry::limit_metrics& metrics
)
{
    auto view = std::make_shared<limits::policy_view>();
    view->http = options.http;
    view->max_waiting = options.max_waiting;
    view->client_header = intake::client_header{policy->client.header};
    view->limits.assign(policy->limits.size(), &metrics);
    view->policy = std::move(policy);
    view->claimed = std::make_unique<intake::claimed_limits>();
    return view;
}

// Returns the status that corrects what was charged. A request that limits have refused when it was
// logged got no response that says what it did, and neither did the gateway if it was only asked.
int correcting_status(const logged_request& r)
{
    const bool was_refused =
        r.was == verdict::rejected || (r.was == verdict::unjudged && r.status == 429);
    return was_refused || r.decided_only || r.status == client_left ? 0 : r.status;
}

// Returns the outcome that corrects what was charged. A client that has given up its call stays
// charged.
std::optional<http::grpc_status> correcting_outcome(const logged_request& r)
{
    return r.grpc_status != http::grpc_status::cancelled ? r.grpc_status : std::nullopt;
}

}  // namespace

candidate::candidate(const candidate_options& options, const wanted_parts& wanted)
    : policy_(decided_here(*options.policy)),
      wanted_(wanted),
      costs_(*policy_, wanted),
      view_(view_of(options, policy_, metrics_)),
      hashes_buckets_(options.hashes_buckets),
      local_(options.local_store),
      check_(local_, clock_, top_, parts_),
      corrections_(local_, clock_),
      leases_(clock_),
      routes_(*policy_, wanted),
      text_(*policy_, view_->http, wanted),
      content_(*policy_, wanted),
      open_(clock_, corrections_, leases_)
{
    for (const policy::route& r : policy_->routes) {
        hosts_choose_ = hosts_choose_ || !r.match.host.empty();
        for (const policy::header_match& m : r.match.headers) {
            parts_choose_ |= wanted.set_of({.from = source::header, .name = m.name});
        }
        for (const policy::json_match& m : r.match.json) {
            parts_choose_ |= wanted.set_of({.from = source::json, .name = m.path});
        }
    }
    schemes_choose_ = policy_->find_route.reads_schemes();
    // Moments are Unix time themselves.
    local_.set_unix_time(base::duration{0});
}

const policy::route* candidate::route_named(std::string_view name) const
{
    const auto found = std::find_if(
        policy_->routes.begin(),
        policy_->routes.end(),
        [name](const policy::route& r) { return r.name == name; }
    );
    return found == policy_->routes.end() ? nullptr : &*found;
}

// Returns what the log does not tell and could lead the request to another route.
route_gap candidate::gap_of(const logged_request& r, const policy::route* named) const
{
    const part_set hosts = hosts_choose_ ? wanted_.all_from(source::host) : 0;
    const part_set choosing = hosts | (named == nullptr ? parts_choose_ : 0);
    return {.parts = choosing & ~r.known, .scheme = named == nullptr && schemes_choose_};
}

std::string candidate::missing(std::size_t limit, part_set known) const
{
    std::string text = routes_.missing(limit, known);
    if ((known & knows_cost) == 0) {
        add_word(text, costs_.missing(limit));
    }
    return text;
}

std::string candidate::missing(const route_gap& gap) const
{
    std::string text = wanted_.names_of(gap.parts);
    if (gap.scheme) {
        add_word(text, "the scheme");
    }
    return text + ", by which routes match";
}

// A log whose client is no peer was written by a gateway that has found the client already, and has
// noted headers only where it trusted the peer, if that matters.
intake::arrival candidate::arrival_of(const logged_request& r, const policy::route* named)
{
    return {
        .peer = r.client,
        .peer_trusted = !r.client_is_peer || identity::is_trusted(policy_->client, r.client),
        .secure = named != nullptr && named->match.scheme == policy::url_scheme::https,
        .content = content_.of(r, named)};
}

void candidate::read_identity(const logged_request& r, intake::key_subject& subject)
{
    token_.claims.clear();
    certificate_ = {};
    for (const part_text& p : r.parts) {
        const policy::key_part& part = wanted_.all()[p.part];
        if (part.from == source::jwt) {
            token_.claims.emplace_back(part.name, p.text);
            subject.token.verified = &token_;
        } else if (part.from == source::cert) {
            std::string& value = part.name == "fingerprint" ? certificate_.fingerprint
                                 : part.name == "subject"   ? certificate_.subject
                                                            : certificate_.alternative_names;
            value = p.text;
            subject.certificate = &certificate_;
        }
    }
}

const judgement& candidate::judge(const logged_request& r)
{
    judged_.clear();
    open_.move_to(base::instant{r.at});
    if (r.asked_by_envoy || r.refused_early) {
        judged_.is = r.asked_by_envoy ? verdict::left_out : verdict::malformed;
        return judged_;
    }
    const bool may_name_route = (parts_choose_ != 0 || schemes_choose_) && !r.route.empty();
    const policy::route* const named = may_name_route ? route_named(r.route) : nullptr;
    const http::request_head* const head = text_.head_of(r, named);
    if (head == nullptr) {
        judged_.is = verdict::malformed;
        return judged_;
    }
    const intake::arrival by = arrival_of(r, named);
    const intake::routed_request routed =
        intake::route_request(view_->intake(), *head, by, memory_);
    judged_.gap = gap_of(r, named);
    if (judged_.gap.any()) {
        judged_.is = verdict::unjudged;
        return judged_;
    }
    if (routed.refused.status != 0) {
        judged_.is = routed.refused.status == 400 ? verdict::malformed : verdict::allowed;
        return judged_;
    }
    judged_.route = routed.route_index;
    judged_.client = intake::client_prefix(*policy_, routed.client);
    if (routed.route->limits.empty()) {
        return judged_;
    }
    intake::key_subject subject = intake::key_subject_of(*policy_, *head, by, routed, memory_);
    read_identity(r, subject);
    const judged_route& route =
        routes_.of(routed.route_index, judged_limits(r, *routed.route, subject));
    if (!route.route.limits.empty()) {
        const limits::verdict* const v =
            limits::check_request(check_, *view_, route.route, subject, *this).verdict;
        note(*v);
        if (v->is == limits::verdict::ruling::allowed) {
            take_up(r, route.route, *v);
        }
    }
    note_unjudged(route, r);
    return judged_;
}

// True if the request costs nothing under the limit, whatever it states: its key exempts it, or
// refuses it.
bool candidate::has_no_cost(std::size_t limit, const intake::key_subject& subject) const
{
    using state = intake::named_charge::state;
    intake::named_charge c;
    intake::name_charge(*policy_, limit, subject, {}, c);
    return c.is != state::charged && c.is != state::bad_cost;
}

// Returns the limits that the log tells enough to judge, and has them charge what it tells.
limits_of_route candidate::judged_limits(
    const logged_request& r, const policy::route& route, const intake::key_subject& subject
)
{
    limits_of_route judged = 0;
    for (std::size_t i = 0; i < route.limits.size(); ++i) {
        const std::size_t limit = route.limits[i];
        const part_set known = costs_.known_for(limit, r);
        if (routes_.can_judge(limit, known)) {
            costs_.apply(limit, r);
            judged |= limits_of_route{1} << i;
        } else if (routes_.can_judge(limit, known | knows_cost) && has_no_cost(limit, subject)) {
            judged |= limits_of_route{1} << i;
        }
    }
    return judged;
}

limit_judgement& candidate::entry_of(const policy::limit_rule& rule)
{
    limit_judgement& e = judged_.entries[judged_.count++];
    e = {.limit = static_cast<std::size_t>(&rule - policy_->limits.data())};
    return e;
}

// A limit in shadow mode counts what it would reject.
void candidate::note(const limits::verdict& v)
{
    using telemetry::outcome;
    for (const limits::verdict::entry& e : v.limits()) {
        limit_judgement& j = entry_of(*e.rule);
        j.cost = e.cost;
        j.numbers = e.decided ? e.limit : nullptr;
        const bool refuses = e.decided ? !e.decision.allowed : e.what != outcome::allowed;
        const bool refused_it = !e.decided && v.is != limits::verdict::ruling::allowed;
        j.is = refuses || refused_it ? verdict::rejected : verdict::allowed;
        if (hashes_buckets_ && e.decided) {
            const auto i = static_cast<std::size_t>(&e - v.entries.data());
            j.bucket = base::siphash128(base::process_hash_key(), check_.bucket_name(i));
        }
    }
    judged_.is = v.is == limits::verdict::ruling::allowed ? verdict::allowed : verdict::rejected;
}

// A request that some limits allow may still have been rejected by one that cannot be judged.
void candidate::note_unjudged(const judged_route& route, const logged_request& r)
{
    for (const std::size_t limit : route.unjudged) {
        entry_of(policy_->limits[limit]).known = costs_.known_for(limit, r);
    }
    if (!route.unjudged.empty() && judged_.is == verdict::allowed) {
        judged_.is = verdict::unjudged;
    }
}

// Keeps what an allowed request has taken, or refunds it if too many wait already.
void candidate::take_up(
    const logged_request& r, const policy::route& route, const limits::verdict& v
)
{
    const base::duration hold = route.holds ? v.hold() : base::duration{0};
    const bool held = hold > base::duration{0};
    if (!held && !route.counts_permits && !route.corrects) {
        return;
    }
    limits::reservation taken;
    taken.begin(view_, r.grpc_status.has_value());
    check_.reserve(held ? limits::reserving::everything : limits::reserving::outcomes, taken);
    if (held && !open_.hold(clock_.now() + hold, view_->max_waiting)) {
        taken.refund(corrections_, leases_, nullptr);
        judged_.is = verdict::rejected;
        return;
    }
    if (taken.empty()) {
        return;
    }
    request_end how{.response = {.status = correcting_status(r), .grpc = correcting_outcome(r)}};
    how.left = held && r.status == client_left && r.duration < hold;
    for (const std::size_t i : route.limits) {
        const policy::limit_rule& rule = policy_->limits[i];
        const auto logged = rule.outcome.settles() ? logged_cost(rule.name, r) : std::nullopt;
        if (logged) {
            how.settled.push_back({rule.name, std::to_string(*logged)});
        }
    }
    open_.add(clock_.now() + r.duration, std::move(taken), std::move(how));
}

}  // namespace gateway::replay
