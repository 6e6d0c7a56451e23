// `decision` is the outcome of one request at one limit, in units a person reads. Plain value.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>
#include <limits>

namespace gateway::limit {

struct decision {
    bool allowed = false;
    // True if the bucket is banned: every request is rejected until `retry_after` has passed.
    bool banned = false;
    // Whole tokens left.
    std::int64_t remaining = 0;
    // Time until the same request would pass. If allowed, the time that the request has to wait.
    base::duration retry_after{0};
    // Time until the bucket is full.
    base::duration reset_after{0};
};

// Returns how many more requests of `cost` tokens would pass at once: none after a rejection, and
// more than can be counted where they cost nothing.
constexpr std::int64_t requests_left(const decision& d, std::int64_t cost)
{
    if (!d.allowed) {
        return 0;
    }
    return cost > 0 ? d.remaining / cost : std::numeric_limits<std::int64_t>::max();
}

}  // namespace gateway::limit
