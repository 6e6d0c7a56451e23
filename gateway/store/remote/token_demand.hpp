// `token_demand` counts the tokens that were lately asked of buckets with leases, per period.
//
// Memory is fixed: one slot for a bucket, found by a keyed hash of its name. The bucket that comes
// first in a period has the slot for that time. Among buckets with the same slot that is most
// likely the one with the most requests. A bucket without a slot counts as one of which nothing is
// asked. Time is an argument.
// Thread: one.
#pragma once

#include "gateway/base/hash.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gateway::store {

class token_demand {
public:
    static constexpr std::size_t slots = 4096;

    // Counts tokens that are asked of a bucket. Returns the tokens asked of it in this period or
    // the one before, whichever is more.
    // Units: microseconds.
    std::int64_t count(
        const base::hash128& bucket, std::int64_t tokens, std::int64_t now, std::int64_t period
    )
    {
        slots_.resize(slots);
        slot& p = slots_[bucket.low % slots];
        const std::int64_t passed = now - p.since;
        if (p.bucket != bucket) {
            if (passed >= period) {
                p = {bucket, now, tokens, 0};
            }
            return p.bucket == bucket ? tokens : 0;
        }
        if (passed >= period) {
            p.before = passed < 2 * period ? p.asked : 0;
            p.asked = 0;
            p.since = now;
        }
        p.asked += tokens;
        return std::max(p.asked, p.before);
    }

private:
    struct slot {
        base::hash128 bucket{};
        // Time when the present period began.
        std::int64_t since = INT64_MIN / 2;
        std::int64_t asked = 0;
        // Tokens asked in the period before.
        std::int64_t before = 0;
    };

    // Slots for buckets. Empty until something is asked.
    std::vector<slot> slots_;
};

}  // namespace gateway::store
