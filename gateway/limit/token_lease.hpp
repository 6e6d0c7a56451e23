// How many tokens of a bucket in a shared store whoever decides there may take ahead of requests.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>

namespace gateway::limit {

struct token_lease {
    static constexpr int most_percent = 50;
    // Fewer tokens are not worth one.
    static constexpr std::int64_t least = 4;
    static constexpr base::duration shortest = std::chrono::milliseconds{100};
    static constexpr base::duration longest = std::chrono::seconds{10};

    // Of the burst, at most. 0: none are taken ahead.
    int percent = 0;
    // They are spent no later than that.
    base::duration time = std::chrono::seconds{1};

    bool any() const { return percent > 0; }

    bool operator==(const token_lease&) const = default;
};

}  // namespace gateway::limit
