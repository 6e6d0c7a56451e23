// What was asked lately of buckets whose tokens may be taken ahead: tokens per period, by demand.
//
// Memory is fixed: one place for a bucket, found by a keyed hash of its name. Who comes first in a
// period has the place for that time: of those that meet there, most likely who asks most. A bucket
// without a place counts as one of which nothing is asked. One thread. Time is an argument.
#pragma once

#include "gateway/base/hash.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gateway::store {

class token_demand {
public:
    static constexpr std::size_t places = 4096;

    // In microseconds. Returns what was asked of that bucket in such a period, the present one or
    // the one before, whichever is more.
    std::int64_t count(
        const base::hash128& bucket, std::int64_t tokens, std::int64_t now, std::int64_t period
    )
    {
        places_.resize(places);
        place& p = places_[bucket.low % places];
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
    struct place {
        base::hash128 bucket{};
        // When its present period began.
        std::int64_t since = INT64_MIN / 2;
        std::int64_t asked = 0;
        // In the period before.
        std::int64_t before = 0;
    };

    // Empty until something is asked.
    std::vector<place> places_;
};

}  // namespace gateway::store
