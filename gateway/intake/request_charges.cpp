#include "gateway/intake/request_charges.hpp"

#include "gateway/intake/request_cost.hpp"
#include "gateway/intake/request_plan.hpp"

#include <algorithm>

namespace gateway::intake {

namespace {

using state = named_charge::state;

// Copies the values of the key from an earlier charge with the same key, if there is one. A split
// bucket is passed over, as its name may be that of a part by now.
named_key name_bucket(
    const key_subject& subject, std::span<const named_charge> earlier, named_charge& c
)
{
    const std::size_t key = c.rule->key_number;
    const auto same = std::find_if(earlier.begin(), earlier.end(), [key](const named_charge& e) {
        return e.rule->key_number == key && e.is == state::charged && e.limit->parts().empty();
    });
    if (same == earlier.end() || key == policy::no_key_number) {
        return make_bucket_name(*c.rule, subject, c.name);
    }
    c.name.start(c.rule->name, same->name);
    return {};
}

state charge_bucket(
    const key_subject& subject, std::span<const named_charge> earlier, named_charge& c
)
{
    const named_key key = name_bucket(subject, earlier, c);
    c.is_named = key.is == key_result::made;
    c.fault = key.fault;
    if (key.is == key_result::reject) {
        return state::bad_key;
    }
    const policy::cost_rule& rule = c.rule->cost;
    const auto cost = cost_of(rule, *subject.head, subject.content);
    if (!cost) {
        return state::bad_cost;
    }
    c.full_cost = cost->tokens;
    c.by_bytes = cost->by_bytes;
    c.cost = rule.caps ? std::min(cost->tokens, c.limit->most_at_once()) : cost->tokens;
    if (!c.is_named) {
        return state::skipped;
    }
    c.name.hashed();  // the next limit with this key copies the hash
    return state::charged;
}

}  // namespace

void name_charge(
    const policy::policy& policy,
    std::size_t index,
    const key_subject& subject,
    std::span<const named_charge> earlier,
    named_charge& out
)
{
    using kind = applied_limit::kind;
    out.index = index;
    out.rule = &policy.limits[index];
    const applied_limit applied = applied_by_plan(policy, *out.rule, subject);
    out.limit = applied.limit;
    out.plan = applied.plan;
    out.is_named = false;
    switch (applied.is) {
        case kind::limited:
            out.is = charge_bucket(subject, earlier, out);
            break;
        case kind::unlimited:
            out.is = state::unlimited;
            break;
        case kind::blocked:
            out.is = state::blocked;
            out.is_named = make_bucket_name(*out.rule, subject, out.name).is == key_result::made;
            break;
        case kind::unclear:
            out.is = state::unclear_plan;
            out.fault = {.part = &policy.plans[out.rule->plan.plans].key, .ambiguous = true};
            break;
    }
}

const named_charge* add_charges(
    const policy::policy& policy,
    std::span<const std::size_t> limits,
    const key_subject& subject,
    named_charges& out
)
{
    for (const std::size_t index : limits) {
        named_charge& c = out.entries[out.count];
        name_charge(policy, index, subject, out.all(), c);
        out.note_plan(c.plan);
        if (c.refuses()) {
            return &c;
        }
        if (c.is == state::charged || c.is == state::blocked) {
            ++out.count;
        }
    }
    return nullptr;
}

}  // namespace gateway::intake
