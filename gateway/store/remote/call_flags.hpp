// The numbers of a call's language, see redis/take.lua. CMake puts each into the Lua scripts and
// SQL functions in place of its name between two signs "@", so that each is written once. Those of
// a limit stand in limit/terms.hpp and limit/windows.hpp. Released functions have these numbers:
// numbers are added, and none is changed.
#pragma once

#include <cstdint>

namespace gateway::store::call_flags {

// A charge's kind is a sum. The first addend is `enforced` or 0 for a request, or what a correction
// does.
inline constexpr std::int64_t enforced = 1;
inline constexpr std::int64_t refund = 2;
inline constexpr std::int64_t charge = 3;
inline constexpr std::int64_t reset = 4;
inline constexpr std::int64_t renew = 5;
inline constexpr std::int64_t ban = 6;
inline constexpr std::int64_t unban = 7;
// The other addends, in the order in which the functions take them off again, last to first.
// The request may wait.
inline constexpr std::int64_t may_wait = 8;
// The limit has a penalty.
inline constexpr std::int64_t has_penalty = 16;
// The correction is one that nobody expects.
inline constexpr std::int64_t is_grant = 32;
// The charge leaves no trace.
inline constexpr std::int64_t looks = 64;
// The tokens were taken ahead of requests.
inline constexpr std::int64_t of_lease = 128;
// Requests may wait under the limit of a refund.
inline constexpr std::int64_t in_line = 256;

// Numbers of a reply in place of a verdict or a debt.
inline constexpr std::int64_t unreadable = -1;
inline constexpr std::int64_t banned_bucket = -2;
// A decision on a charge is this, 1 (allowed) or 0.
inline constexpr std::int64_t banned_charge = 2;

}  // namespace gateway::store::call_flags
