// GET /v1/limits: the limits in force, as JSON. No secrets.
#pragma once

#include "gateway/admin/admin_sources.hpp"

#include <boost/json/value.hpp>

namespace gateway::admin {

// The name of the store where the limit's buckets live.
std::string_view store_name(const policy::policy& p, const policy::limit_rule& rule);

// What a limit is, without its counts.
boost::json::object describe(const policy::policy& p, const policy::limit_rule& rule);

// The numbers of one of its plans, instead of its own.
void describe_numbers(
    const policy::limit_rule& rule, const limit::limit& of_plan, boost::json::object& into
);

boost::json::value describe_limits(
    const policy::policy& p, const std::function<decision_counts(std::string_view limit)>& decisions
);

}  // namespace gateway::admin
