// `cost_of` finds the cost of a request under a limit, in tokens.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/policy/cost_rule.hpp"

#include <cstdint>
#include <optional>

namespace gateway::intake {

// Returns the cost that the request states, or the rule's standard if it states none. Returns
// nothing if it states two different ones, an empty one, or one that is no whole number from 0 to
// the rule's `max`.
std::optional<std::int64_t> stated_cost(
    const policy::cost_rule& rule, const http::request_head& head
);

inline std::optional<std::int64_t> cost_of(
    const policy::cost_rule& rule, const http::request_head& head
)
{
    return rule.from == policy::cost_rule::source::fixed ? rule.standard : stated_cost(rule, head);
}

}  // namespace gateway::intake
