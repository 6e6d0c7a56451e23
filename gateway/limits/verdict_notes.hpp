// The functions here note in a request's record what its limits have decided.
#pragma once

#include "gateway/limits/checks/limit_check.hpp"
#include "gateway/limits/request_record.hpp"

#include <optional>

namespace gateway::limits {

// Notes what counters, the log and the response need of the verdict: plans, costs, the deciding
// limit, its bucket and outcome, and the report of each limit.
void note_verdict(const limit_check& check, const verdict& v, request_record& record);

// Returns the Retry-After of a rejected client, or nothing if no time would help. Jitter only
// adds to it, so it is never shorter than the true wait.
std::optional<base::duration> retry_wait(const verdict& v);

// Returns why limits refuse a request with this ruling, or nothing if they do not.
std::optional<telemetry::refusal_reason> refusal_reason_of(verdict::ruling is);

}  // namespace gateway::limits
