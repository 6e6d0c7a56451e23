// What a request costs under a limit.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/policy/cost_rule.hpp"

#include <cstdint>
#include <optional>

namespace gateway::intake {

// Nothing: the request says what is no whole number from 0 to the rule's `max`, as an empty one, or
// says two different ones.
std::optional<std::int64_t> said_cost(
    const policy::cost_rule& rule, const http::request_head& head
);

inline std::optional<std::int64_t> cost_of(
    const policy::cost_rule& rule, const http::request_head& head
)
{
    return rule.from == policy::cost_rule::source::fixed ? rule.standard : said_cost(rule, head);
}

}  // namespace gateway::intake
