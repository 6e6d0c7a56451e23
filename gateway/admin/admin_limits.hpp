// Functions that describe limits and buckets as JSON, without secrets. Pure.
#pragma once

#include "gateway/policy/policy.hpp"
#include "gateway/telemetry/history/totals.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::admin {

// Returns the name of the store in which the limit's buckets live.
std::string_view store_name(const policy::policy& p, const policy::limit_rule& rule);

// Returns the rule of the limit whose bucket has this name; null if a reload has removed it.
const policy::limit_rule* rule_of(const policy::policy& p, std::string_view bucket_name);

// `shown_bucket` is a bucket as answers show it.
struct shown_bucket {
    // The bytes of identity::bucket_name, or those that stand for a digest, as in
    // heavy_hitters::hitter.
    std::string_view name;
    bool is_digest = false;
    // True if the caller has the token, and may see whose bucket it is.
    bool shows_key = false;
};

// Adds the bucket's hash, and its key if that is to be shown and known.
void describe_bucket(const policy::policy& p, const shown_bucket& b, boost::json::object& into);

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

// Answers GET /v1/limits: the limits in force and what they have decided.
boost::json::value describe_limits(const policy::policy& p, const telemetry::totals& counted);

}  // namespace gateway::admin
