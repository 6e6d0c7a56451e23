#include "gateway/intake/descriptor_charges.hpp"

#include "gateway/intake/request_charges.hpp"

#include <algorithm>

namespace gateway::intake {

namespace {

using state = named_charge::state;
using envoy::descriptor_entry;

// Returns the length of a unit, as envoyproxy/ratelimit has it; 0 if the unit is unknown.
base::duration length_of(envoy::time_unit unit)
{
    using std::chrono::hours;
    switch (unit) {
        case envoy::time_unit::second:
            return std::chrono::seconds{1};
        case envoy::time_unit::minute:
            return std::chrono::minutes{1};
        case envoy::time_unit::hour:
            return hours{1};
        case envoy::time_unit::day:
            return hours{24};
        case envoy::time_unit::week:
            return hours{24 * 7};
        case envoy::time_unit::month:
            return hours{24 * 30};
        case envoy::time_unit::year:
            return hours{24 * 365};
        case envoy::time_unit::unknown:
            break;
    }
    return base::duration{0};
}

// Returns the subject of keys that depend on the entries only. It lacks the parts that keys of HTTP
// requests have; the configuration refuses such keys here.
key_subject subject_of(std::span<const descriptor_entry> entries)
{
    static const http::request_head none;
    return {.head = &none, .client = {}, .host = {}, .path = {}, .route = {}, .entries = entries};
}

// Returns the hits as a cost. Hits that no bucket can hold cost a token more than it holds.
std::int64_t cost_in(std::uint64_t hits, const limit::limit& l)
{
    const auto never = static_cast<std::uint64_t>(l.most_at_once()) + 1;
    return static_cast<std::int64_t>(std::min(hits, never));
}

// Returns the numbers that the charge is under: those of the first charge of its bucket in the
// request. A bucket that would be under two limits at once has no one answer.
const limit::limit* numbers_of(const named_charge& c, std::span<const named_charge> before)
{
    const auto same = std::find_if(before.begin(), before.end(), [&c](const named_charge& b) {
        return b.is == state::charged && b.name.bytes() == c.name.bytes();
    });
    return same == before.end() ? c.limit : same->limit;
}

}  // namespace

bool matches(const policy::descriptor_rule& rule, std::span<const descriptor_entry> entries)
{
    return std::equal(
        rule.match.begin(),
        rule.match.end(),
        entries.begin(),
        entries.end(),
        [](const policy::entry_match& wanted, const descriptor_entry& e) {
            return wanted.key == e.key && (!wanted.value || *wanted.value == e.value);
        }
    );
}

const policy::descriptor_rule* rule_for(
    const policy::rate_limit_service& service, std::span<const descriptor_entry> entries
)
{
    const auto& rules = service.descriptors;
    const auto found = std::find_if(rules.begin(), rules.end(), [entries](const auto& rule) {
        return matches(rule, entries);
    });
    return found == rules.end() ? nullptr : &*found;
}

descriptor_charges::outcome descriptor_charges::name(
    const policy::policy& policy,
    const policy::rate_limit_service& service,
    const envoy::rate_limit_request& request,
    named_charges& out
)
{
    override_count_ = 0;
    unlimited_.fill(false);
    for (std::size_t d = 0; d < request.descriptors.size(); ++d) {
        const auto* const rule = rule_for(service, request.entries_of(request.descriptors[d]));
        if (rule == nullptr) {
            continue;
        }
        first_ = out.count;
        for (const std::size_t limit : rule->limits) {
            if (const outcome o = add(policy, limit, d, request, out); o != outcome::named) {
                return o;
            }
        }
    }
    return outcome::named;
}

descriptor_charges::outcome descriptor_charges::add(
    const policy::policy& policy,
    std::size_t limit,
    std::size_t descriptor,
    const envoy::rate_limit_request& request,
    named_charges& out
)
{
    if (out.count == out.entries.size()) {
        complaint_ =
            "the descriptors are under more than 8 limits, which cannot be decided at once";
        return outcome::invalid;
    }
    const envoy::descriptor& d = request.descriptors[descriptor];
    named_charge& c = out.entries[out.count];
    name_charge(policy, limit, subject_of(request.entries_of(d)), out.all().subspan(first_), c);
    out.note_plan(c.plan);
    if (c.is == state::charged && d.limit && !replace_numbers(*d.limit, c)) {
        complaint_ = "the limit that a descriptor brings along is impossible here";
        return outcome::invalid;
    }
    unlimited_[descriptor] = unlimited_[descriptor] || c.is == state::unlimited;
    if (c.is == state::charged) {
        c.limit = numbers_of(c, out.all());
        c.cost = cost_in(request.hits_of(d), *c.limit);
    }
    if (c.refuses()) {
        refused_ = &c;
        refused_descriptor_ = descriptor;
        return outcome::refused;
    }
    if (c.is == state::charged || c.is == state::blocked) {
        descriptor_of_[out.count++] = descriptor;
    }
    return outcome::named;
}

// Puts the numbers in place of the limit's. No requests per unit block the descriptor. Returns
// false if the limit cannot have them.
bool descriptor_charges::replace_numbers(const envoy::rate_override& by, named_charge& c)
{
    const base::duration period = length_of(by.unit);
    if (period == base::duration{0}) {
        return false;
    }
    if (by.requests_per_unit == 0) {
        c.is = state::blocked;
        c.limit = nullptr;
        return true;
    }
    std::optional<limit::limit>& made = overrides_[override_count_];
    made = c.limit->at_rate(by.requests_per_unit, period);
    if (!made) {
        return false;
    }
    ++override_count_;
    c.limit = &*made;
    return true;
}

}  // namespace gateway::intake
