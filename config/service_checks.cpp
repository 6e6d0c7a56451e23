// Checks of rate-limit services.
#include "config/check.hpp"
#include "config/keys/key_parts.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace gateway::config {
namespace {

using source = policy::key_part::source;

bool is_descriptor(const policy::key_part& part)
{
    return part.from == source::descriptor;
}

// Returns the part that tells the limit's plan, or null if it has none.
const policy::key_part* plan_key_of(const draft& d, const policy::limit_rule& limit)
{
    const std::size_t plans = limit.plan.plans;
    return plans == policy::no_plans ? nullptr : &d.policy.plans[plans].key;
}

// Returns how many entries of that key the rule matches.
std::ptrdiff_t count_of(const policy::descriptor_rule& rule, const std::string& key)
{
    return std::count_if(rule.match.begin(), rule.match.end(), [&key](const auto& entry) {
        return entry.key == key;
    });
}

void check_listeners(const draft& d, findings& found)
{
    const auto known = names_in<std::string_view>(d.policy.services);
    std::set<std::string_view> asked;
    for (const auto& [at, name] : d.served_listeners) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            found.problem(
                at, "unknown rate_limit_service " + quote(name) + found.suggestion(name, known)
            );
        }
        asked.insert(name);
    }
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (asked.count(known[i]) == 0) {
            found.warning(
                d.services[i].itself, "no listener names this service, so nobody can ask it"
            );
        }
    }
}

void check_domains(const draft& d, findings& found)
{
    std::map<std::string, std::size_t> first;
    for (std::size_t i = 0; i < d.policy.services.size(); ++i) {
        const std::string& domain = d.policy.services[i].domain;
        const auto [same, is_new] = first.emplace(domain, i);
        if (!is_new && !domain.empty()) {
            found.problem(
                d.services[i].itself.key("domain"),
                quote(domain) + " is the domain of " + d.services[same->second].itself.path +
                    ", too"
            );
        }
    }
}

// True if every descriptor that `rule` matches is matched by the earlier one.
bool hides(const policy::descriptor_rule& earlier, const policy::descriptor_rule& rule)
{
    return std::equal(
        earlier.match.begin(),
        earlier.match.end(),
        rule.match.begin(),
        rule.match.end(),
        [](const policy::entry_match& a, const policy::entry_match& b) {
            return a.key == b.key && (!a.value || a.value == b.value);
        }
    );
}

void check_rules_are_reached(
    const policy::rate_limit_service& s, const service_origin& at, findings& found
)
{
    for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
        const auto here = s.descriptors.begin() + static_cast<std::ptrdiff_t>(i);
        const auto earlier =
            std::find_if(s.descriptors.begin(), here, [here](const policy::descriptor_rule& rule) {
                return hides(rule, *here);
            });
        if (earlier != here && !here->match.empty()) {
            const auto hiding = static_cast<std::size_t>(earlier - s.descriptors.begin());
            found.problem(
                at.rules[i],
                "never matches: " + at.rules[hiding].path +
                    " comes first and matches every descriptor that this one does"
            );
        }
    }
}

// Checks that the rule matches one entry with the key of this part. Every other part is of an HTTP
// request, which no question of Envoy's has.
void check_part(
    const origin& at,
    const policy::descriptor_rule& rule,
    const policy::key_part& part,
    const std::string& owner,
    findings& found
)
{
    if (!is_descriptor(part)) {
        found.problem(
            at,
            owner + " asks for " + part.text +
                ", which Envoy does not send here: make it of descriptor:KEY"
        );
        return;
    }
    const std::ptrdiff_t times = count_of(rule, part.name);
    if (times != 1) {
        found.problem(
            at,
            owner + " asks for " + part.text + ", and \"match\" has " +
                (times == 0 ? "no such entry" : "more than one, of which none is meant")
        );
    }
}

// Returns what the limit has that makes no sense without a request and its response; empty if
// nothing does.
std::string_view foreign_key(const policy::limit_rule& limit)
{
    if (limit.limit.counts_in_flight()) {
        return "algorithm: concurrency\", and the end of a request is not known here";
    }
    if (limit.max_wait > base::duration{0}) {
        return "max_wait\", and Envoy is not made to wait";
    }
    if (limit.outcome.any()) {
        return "charge_on\", \"reset_on\" or \"settle\", and the response is not known here";
    }
    if (limit.claimed.any()) {
        return "claim\", and no token is known here";
    }
    if (!(limit.cost == policy::cost_rule{})) {
        return "cost\", and the cost is Envoy's hits_addend";
    }
    return {};
}

void check_limit(
    const draft& d,
    const origin& at,
    const policy::descriptor_rule& rule,
    std::size_t index,
    findings& found
)
{
    const policy::limit_rule& limit = d.policy.limits[index];
    const std::string owner = "the key of " + quote(limit.name);
    for (const policy::key_part& part : limit.key) {
        check_part(at, rule, part, owner, found);
    }
    if (const policy::key_part* const plans = plan_key_of(d, limit)) {
        check_part(at, rule, *plans, "the plan of " + quote(limit.name), found);
    }
    if (const std::string_view foreign = foreign_key(limit); !foreign.empty()) {
        found.problem(at, quote(limit.name) + " has \"" + std::string{foreign});
    }
}

// Checks that the limits of a service share one shared store, as Envoy may ask about several
// descriptors in one question, which is decided in one round trip.
void check_one_shared_store(
    const draft& d, const policy::rate_limit_service& s, const service_origin& at, findings& found
)
{
    std::size_t shared = policy::local_store;
    for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
        const std::string complaint =
            complaint_about_stores(d, s.descriptors[i].limits, "service", shared);
        if (!complaint.empty()) {
            found.problem(at.rules[i].key("limits"), complaint);
            return;
        }
    }
}

// Checks that no limit of a route depends on an entry, which no HTTP request has.
void check_limits_of_routes(const draft& d, findings& found)
{
    for (std::size_t i = 0; i < d.policy.routes.size(); ++i) {
        for (const std::size_t index : d.policy.routes[i].limits) {
            const policy::limit_rule& limit = d.policy.limits[index];
            const policy::key_part* const plans = plan_key_of(d, limit);
            if (std::any_of(limit.key.begin(), limit.key.end(), is_descriptor) ||
                (plans != nullptr && is_descriptor(*plans))) {
                found.problem(
                    d.routes[i].key("limits"),
                    quote(limit.name) +
                        " asks for a descriptor's entry, which only a rate_limit_service has"
                );
            }
        }
    }
}

}  // namespace

void check_services(const draft& d, findings& found)
{
    check_listeners(d, found);
    check_domains(d, found);
    for (std::size_t i = 0; i < d.policy.services.size(); ++i) {
        const policy::rate_limit_service& s = d.policy.services[i];
        const service_origin& at = d.services[i];
        check_rules_are_reached(s, at, found);
        for (std::size_t r = 0; r < s.descriptors.size(); ++r) {
            for (const std::size_t limit : s.descriptors[r].limits) {
                check_limit(d, at.rules[r].key("limits"), s.descriptors[r], limit, found);
            }
        }
        check_one_shared_store(d, s, at, found);
    }
    check_limits_of_routes(d, found);
}

void mark_limits_of_services(const draft& d, std::vector<bool>& used)
{
    for (const policy::rate_limit_service& s : d.policy.services) {
        for (const policy::descriptor_rule& rule : s.descriptors) {
            for (const std::size_t index : rule.limits) {
                used[index] = true;
            }
        }
    }
}

}  // namespace gateway::config
