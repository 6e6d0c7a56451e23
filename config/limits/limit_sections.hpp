// The functions here describe parts of a limit, and make its numbers of what was read.
#pragma once

#include "config/limits/limit_draft.hpp"

#include <optional>

namespace gateway::config {

// Describes what the limit gives, and when: its algorithm, its rate, and what a bucket holds.
void describe_rate(keys& limit, limit_draft& l, draft& d);

// Loads the numbers of a plan in place of the limit's own, which `l` has, and checks them likewise.
void load_plan_numbers(section& from, limit_draft& l, draft& d);

// These read and print a rate and a burst that the token of a request states.
// Requires: for reading, that the key is there and has a mapping.
void read_claimed_rate(section& limit, limit_draft& l);
void read_claimed_burst(section& limit, limit_draft& l);
std::string print_claimed_rate(const policy::claimed_numbers& c);
std::string print_claimed_burst(const policy::claimed_numbers& c);

// Checks such numbers against the other keys, and completes them.
// Requires: all other keys have been read.
void check_claims(section& from, limit_draft& l, const draft& d);

// Most windows of tokens that a bucket holds if its windows begin by a calendar, as a call to a
// shared store encodes when each of them begins.
inline constexpr std::int64_t most_windows_held = 60;

// Returns the limit, or reports a problem and returns nothing if its numbers are impossible.
// Requires: its rate, or number of permits, has been read.
std::optional<limit::limit> numbers_of(section& from, const limit_draft& l, draft& d);

// Describes `cost`: a number, or where a request says it.
void describe_cost(keys& limit, policy::cost_rule& cost);

// Takes a path to a member of a JSON text, or returns what is wrong with it.
std::string take_json_path(const std::string& text, std::string& path);

// Reads a cost that depends on the content of requests, and prints it.
void read_content_cost(section& from, policy::cost_rule& cost);
std::string print_content_cost(const policy::cost_rule& cost);

// Describes `settle`: what a response says that its request has cost.
void describe_settle(keys& limit, policy::outcome_rule& outcome);

// Reports costs in the configuration that are above the most that a bucket holds. The problem is at
// the cost, or at the numbers of the plan.
void refuse_cost_above(section& from, const limit_draft& l);

// Describes `charge_on`, `reset_on` and `settle`: how a response changes what its request was
// charged.
void describe_outcome(keys& limit, policy::outcome_rule& outcome);

// Describes `penalty`, the ban that many rejections lead to.
void describe_penalty(keys& limit, limit::penalty& penalty);

// Describes `lease`: how long a shared store keeps a permit of a request in flight, or how much a
// worker takes ahead there from a token bucket.
// Requires: the algorithm has been described.
void describe_lease(keys& limit, limit_draft& l);

// Checks `lease` against the other keys.
// Requires: all other keys have been read.
void check_lease(section& from, const limit_draft& l);

// Describes `headers` and `soft`: what responses report of the limit.
void describe_reports(keys& limit, policy::limit_rule& rule);

// Describes `shards`: buckets that are split in parts.
// Requires: the keys that it is checked against have been described, and the limit's plans have
// not.
void describe_shards(keys& limit, limit_draft& l);

// Splits the numbers of the limit, or of a plan, as the limit's key says.
void split_in_shards(section& from, limit_draft& l);

// Describes `plan` and `plans`: what the limit is to each plan.
// Requires: the limit's own numbers and its store have been described.
void describe_limit_plans(keys& limit, limit_draft& l, draft& d);

// Describes `local_share`: what one gateway of several gives while their store fails.
// Requires: all other keys that have numbers have been described.
void describe_local_share(keys& limit, limit_draft& l);

}  // namespace gateway::config
