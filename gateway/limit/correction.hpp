// What is done to a bucket after its request was decided, when the response tells more.
#pragma once

#include "gateway/limit/algebra.hpp"
#include "gateway/limit/decision.hpp"

#include <algorithm>
#include <cstdint>

namespace gateway::limit {

struct correction {
    enum class kind : std::uint8_t {
        // Tokens that a take() took.
        give_back,
        // Tokens more, into debt if need be.
        charge,
        // The bucket is full again.
        reset,
    };

    kind what = kind::give_back;
    // At least 1 token; of a charge only they mean something, of a reset nothing.
    refund of{};

    bool operator==(const correction&) const = default;
};

// What the bucket of an allowed request of so many tokens had owed before, in units; `said` is that
// request's decision, and `tick` one of the terms'.
inline std::int64_t owed_before(
    const terms& t, const decision& said, std::int64_t cost, base::duration tick
)
{
    const std::int64_t after =
        t.issued_in == nullptr ? said.reset_after / tick : t.burst - said.remaining;
    return std::max<std::int64_t>(after - cost * t.interval, 0);
}

// A bucket that follows `t`, corrected.
inline bucket corrected(const terms& t, const bucket& b, moment at, const correction& c)
{
    switch (c.what) {
        case correction::kind::give_back:
            return refunded(t, b, at, c.of);
        case correction::kind::charge:
            return charged(t, b, at, c.of.tokens);
        case correction::kind::reset:
            break;
    }
    return refunded(t, b, at, {.tokens = windows::most_tokens});
}

}  // namespace gateway::limit
