// GET /v1/limits describes the limits in force as JSON, without secrets.
#pragma once

#include "gateway/admin/admin_sources.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>

namespace gateway::admin {

// Returns the name of the store in which the limit's buckets live.
std::string_view store_name(const policy::policy& p, const policy::limit_rule& rule);

// Describes a limit without its counts.
boost::json::object describe(const policy::policy& p, const policy::limit_rule& rule);

// Replaces the limit's numbers in `into` with those of one of its plans, or with `tokens` per
// period if a token states them.
void describe_numbers(
    const policy::limit_rule& rule,
    const limit::limit& applied,
    std::optional<std::int64_t> tokens,
    boost::json::object& into
);

boost::json::value describe_limits(
    const policy::policy& p, const std::function<decision_counts(std::string_view limit)>& decisions
);

}  // namespace gateway::admin
