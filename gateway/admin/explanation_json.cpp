#include "gateway/admin/explanation_json.hpp"

#include "gateway/admin/admin_calls.hpp"
#include "gateway/admin/admin_limits.hpp"
#include "gateway/base/hash.hpp"
#include "gateway/intake/readable_key.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace gateway::admin {

namespace {

using telemetry::outcome;

std::string why(const identity::found_client& found, const std::string& header)
{
    using identity::client_reason;
    const std::string element =
        "element " + std::to_string(found.hop) + " of " + header + ", counted from the right";
    switch (found.why) {
        case client_reason::untrusted_peer:
            return "the peer, which is not trusted to name a client";
        case client_reason::no_header:
            return "the peer, which is trusted and sent no " + header;
        case client_reason::counted:
            return element + ": that many trusted_hops are in front";
        case client_reason::not_countable:
            return "the peer: " + header + " has fewer addresses than trusted_hops";
        case client_reason::first_untrusted:
            return element + ": the first that is no trusted proxy";
        case client_reason::all_trusted:
            return found.hop == 0 ? "the peer: " + header + " is empty"
                                  : element + ": all of them are trusted proxies";
        case client_reason::unreadable:
            return (found.hop == 0 ? std::string{"the peer"} : element) +
                   ": what stands before it in " + header + " is no address";
        case client_reason::only_address:
            return "the address in " + header;
        case client_reason::no_one_address:
            return "the peer: " + header + " has not exactly one address";
    }
    return {};
}

boost::json::value client_of(const limits::explanation& e)
{
    const identity::client_options& options = e.policy->client;
    const base::ip_address& address = e.client->address;
    return {
        {"address", address.to_string()},
        {"counted_as", address.masked(options.ipv4_prefix, options.ipv6_prefix).to_string()},
        {"hop", e.client->hop},
        {"why", why(*e.client, options.header)},
    };
}

using state = intake::named_charge::state;

std::string why_not(const intake::named_charge& c)
{
    switch (c.is) {
        case state::charged:
            return {};
        case state::unlimited:
            return "plan " + std::string{c.plan} + " is unlimited";
        case state::blocked:
            return "plan " + std::string{c.plan} + " is blocked";
        case state::unclear_plan:
            return "whose plan it is can be read in two ways";
        case state::bad_cost:
            return "what the request says of its cost is no number in range";
        case state::skipped:
            return described(c.fault) + ", and missing_key is skip";
        case state::bad_key:
            return described(c.fault);
    }
    return {};
}

// Returns the outcome under which a limit check would count this.
outcome outcome_of(const policy::limit_rule& rule, const limits::looked_at& look)
{
    if (look.decision && !look.decision->allowed) {
        return rule.enforced() ? outcome::rejected : outcome::shadow_rejected;
    }
    if (look.decision) {
        return look.failed.empty() ? outcome::allowed : outcome::failed_local;
    }
    if (rule.on_failure(policy::failure_policy::local)) {
        return outcome::failed_local;
    }
    return rule.enforced() && !rule.on_failure(policy::failure_policy::open)
               ? outcome::failed_closed
               : outcome::failed_open;
}

// Returns the limit that decides, or this gateway's share of it if the store fails.
const limit::limit& numbers_of(const intake::named_charge& c, const limits::looked_at& look)
{
    const limit::limit* const share = look.failed.empty() ? nullptr : c.limit->share();
    return share == nullptr ? *c.limit : *share;
}

limits::verdict::entry entry_of(const intake::named_charge& c, const limits::looked_at& look)
{
    const limit::limit& numbers = numbers_of(c, look);
    return {
        .rule = c.rule,
        .limit = &numbers,
        .what = outcome_of(*c.rule, look),
        .decided = look.decision.has_value(),
        .never = look.decision && limits::never_passes(*look.decision, c.cost, numbers),
        .decision = look.decision.value_or(limit::decision{}),
    };
}

void add_decision(
    const limits::verdict::entry& entry, const limits::looked_at& look, boost::json::object& one
)
{
    if (entry.decided) {
        one["remaining"] = entry.decision.remaining;
        one["reset"] = in_seconds(entry.decision.reset_after);
        if (!entry.never) {
            one["retry"] = in_seconds(entry.decision.retry_after);
        }
        if (look.banned_for > base::duration{0}) {
            one["banned_until"] = end_of_ban(look.banned_for);
        }
    }
    if (!look.failed.empty()) {
        one["failed"] = look.failed;
    }
    one["says"] = telemetry::outcome_names[static_cast<std::size_t>(entry.what)];
}

limits::verdict::ruling ruling_of(const limits::verdict& v)
{
    auto is = limits::verdict::ruling::allowed;
    for (const limits::verdict::entry& e : v.limits()) {
        if (e.what == outcome::failed_closed) {
            return limits::verdict::ruling::unavailable;
        }
        is = e.what == outcome::rejected ? limits::verdict::ruling::rejected : is;
    }
    return is;
}

boost::json::object refusal_of(int status, std::string_view detail)
{
    return {
        {"says", status < 400 ? "answered" : "refused"}, {"status", status}, {"detail", detail}};
}

// Returns the refusal that does not depend on the buckets.
boost::json::object refusal_of(const limits::explanation& e)
{
    boost::json::object json = refusal_of(e.status, e.detail);
    if (e.refused_by) {
        json["limit"] = e.policy->limits[*e.refused_by].name;
    }
    if (e.retry_after.count() > 0) {
        json["retry_after"] = http::seconds_up(e.retry_after);
    }
    return json;
}

// True if one of the limits is in the local store and rejects.
bool rejects_locally(std::span<const limits::verdict::entry> limits)
{
    return std::any_of(limits.begin(), limits.end(), [](const auto& entry) {
        return entry.what == outcome::rejected && entry.rule->store == policy::local_store;
    });
}

// True if the request goes on after this verdict: to an upstream, or to wait for its tokens or for
// a shared store.
bool goes_on(const limits::verdict& v, const policy::route& of)
{
    const auto limits = v.limits();
    const bool has_shared = std::any_of(limits.begin(), limits.end(), [](const auto& entry) {
        return entry.rule->store != policy::local_store;
    });
    if (has_shared && !rejects_locally(limits)) {
        return true;
    }
    if (v.is == limits::verdict::ruling::allowed) {
        return of.upstream != policy::no_upstream || v.hold().count() > 0;
    }
    return v.is == limits::verdict::ruling::rejected && of.serves_over_limit() && !v.banned();
}

boost::json::object as_json(const limits::verdict& v, const limits::explanation& e)
{
    const policy::route& of = *e.route;
    if (e.ends_unclear && goes_on(v, of)) {
        const limits::admission late = limits::content_unclear_later();
        return refusal_of(late.status, late.detail);
    }
    const limits::admission a = limits::admission_of(v.is, v.retry_after(), v.banned());
    if (v.is == limits::verdict::ruling::allowed) {
        return {{"says", "allowed"}};
    }
    const bool own = v.is == limits::verdict::ruling::rejected && of.rejection;
    if (own && of.serves_over_limit() && !v.banned()) {
        return {
            {"says", "over_limit"},
            {"limit", v.deciding()->rule->name},
            {"upstream", e.policy->upstreams[of.rejection->upstream]}};
    }
    boost::json::object json = refusal_of(own ? of.rejection->page.status : a.status, a.detail);
    json["limit"] = v.deciding()->rule->name;
    if (a.retry_after.count() > 0) {
        json["retry_after"] = http::seconds_up(a.retry_after);
    }
    return json;
}

boost::json::object describe_use(const limits::explanation& e, const intake::named_charge& c)
{
    const policy::limit_rule& rule = *c.rule;
    boost::json::object one = admin::describe(*e.policy, rule);
    if (!c.plan.empty()) {
        one["plan"] = c.plan;
    }
    if (c.limit != nullptr && c.limit != &rule.limit) {
        const auto tokens = e.claimed != nullptr ? e.claimed->tokens_of(*c.limit) : std::nullopt;
        describe_numbers(rule, *c.limit, tokens, one);
    }
    one["applies"] = c.is == state::charged;
    if (c.is != state::charged) {
        one["why"] = why_not(c);
        if (c.is == state::blocked) {
            one["says"] = telemetry::outcome_names[static_cast<std::size_t>(
                rule.enforced() ? outcome::blocked : outcome::shadow_rejected
            )];
        }
        return one;
    }
    one["key"] = intake::readable_key(*e.policy, rule, c.name.bytes());
    one["bucket"] = base::sha256_hex128(c.name.bytes());
    one["cost"] = c.cost;
    return one;
}

// Returns the number of entries that a limit check would decide by. Limits in the local store that
// need no token reject a request before the others are looked at. The first `without_token` entries
// need none.
std::size_t deciding_entries(const limits::verdict& v, std::size_t without_token)
{
    return rejects_locally(v.limits().first(without_token)) ? without_token : v.count;
}

// True if the request is refused whatever its buckets hold. Limits that need no token may decide
// before it is refused for its token.
bool is_refused(const limits::verdict& v, const limits::explanation& e)
{
    const bool decided =
        e.is_forgery ? v.is != limits::verdict::ruling::allowed : rejects_locally(v.limits());
    return e.status != 0 && !decided;
}

}  // namespace

boost::json::value as_json(
    const limits::explanation& e, const std::vector<limits::looked_at>& looks
)
{
    limits::verdict v;
    boost::json::array limits;
    std::size_t without_token = 0;
    bool unseen = false;
    for (const intake::named_charge& c : e.limits) {
        boost::json::object one = describe_use(e, c);
        if (c.is == state::charged && v.count < looks.size()) {
            const limits::looked_at& look = looks[v.count];
            v.entries[v.count] = entry_of(c, look);
            add_decision(v.entries[v.count++], look, one);
        }
        unseen = unseen || (c.is == state::charged && looks.empty());
        limits.push_back(std::move(one));
        if (!e.route->reads_token || limits.size() <= e.route->limits_without_token) {
            without_token = v.count;
        }
    }
    v.count = deciding_entries(v, without_token);
    v.is = ruling_of(v);
    boost::json::object json{{"limits", std::move(limits)}};
    if (e.client) {
        json["client"] = client_of(e);
    }
    if (e.route != nullptr) {
        json["route"] = e.route->name;
        json["path"] = e.path;
        if (e.route->upstream != policy::no_upstream) {
            json["upstream"] = e.policy->upstreams[e.route->upstream];
        }
    }
    const bool refused = is_refused(v, e);
    const bool is_unknown = unseen && !(e.ends_unclear && goes_on(v, *e.route));
    json["verdict"] = refused      ? refusal_of(e)
                      : is_unknown ? boost::json::object{{"says", "unknown"}}
                                   : as_json(v, e);
    return json;
}

}  // namespace gateway::admin
