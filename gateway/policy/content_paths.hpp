// The members of JSON contents on which parts of a policy depend. Each function calls
// `use(path, index)` for every path, with the place where its index belongs.
#pragma once

#include "gateway/policy/limit_rule.hpp"
#include "gateway/policy/plan_section.hpp"
#include "gateway/policy/route.hpp"

#include <vector>

namespace gateway::policy {

// The path of a part of a key, if it has one.
template <class Part, class Use>
void each_path_of_part(Part& part, Use use)
{
    if (part.from == key_part::source::json) {
        use(part.name, part.path);
    }
}

// Paths in requests: those of a limit's key, its plans' key and its cost.
template <class Rule, class Plans, class Use>
void each_request_path(Rule& rule, Plans& plans, Use use)
{
    for (auto& part : rule.key) {
        each_path_of_part(part, use);
    }
    if (rule.plan.plans != no_plans) {
        each_path_of_part(plans[rule.plan.plans].key, use);
    }
    for (auto& part : rule.cost.parts) {
        if (!part.path.empty()) {
            use(part.path, part.index);
        }
    }
}

// Paths in responses by which a limit's charge is settled.
template <class Rule, class Use>
void each_response_path(Rule& rule, Use use)
{
    for (auto& usage : rule.outcome.usage) {
        for (auto& place : usage.places) {
            use(place.path, place.index);
        }
    }
}

// Paths in requests by which a route is chosen.
template <class Match, class Use>
void each_matched_path(Match& match, Use use)
{
    for (auto& member : match.json) {
        use(member.path, member.index);
    }
}

}  // namespace gateway::policy
