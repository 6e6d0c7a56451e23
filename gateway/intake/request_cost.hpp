// `cost_of` finds the cost of a request under a limit, in tokens.
#pragma once

#include "gateway/content/request_values.hpp"
#include "gateway/http/message.hpp"
#include "gateway/policy/cost_rule.hpp"

#include <cstdint>
#include <optional>

namespace gateway::intake {

struct request_cost {
    std::int64_t tokens = 1;
    // The part of the rule that depends on the number of bytes, while that is unknown; else null.
    // `tokens` then has its standard.
    // Ownership: the rule's.
    const policy::content_cost* by_bytes = nullptr;
};

// Returns the cost that the request states, or the rule's standard if it states none. Returns
// nothing if it states two different ones, an empty one, or one that is no whole number from 0 to
// the rule's `max`.
std::optional<request_cost> stated_cost(
    const policy::cost_rule& rule,
    const http::request_head& head,
    const content::request_content& content
);

inline std::optional<request_cost> cost_of(
    const policy::cost_rule& rule,
    const http::request_head& head,
    const content::request_content& content
)
{
    return rule.from == policy::cost_rule::source::fixed ? request_cost{rule.standard}
                                                         : stated_cost(rule, head, content);
}

}  // namespace gateway::intake
