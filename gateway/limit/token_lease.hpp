// `token_lease` says how many tokens of a bucket in a shared store a worker may take ahead of
// requests.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>

namespace gateway::limit {

struct token_lease {
    static constexpr int most_percent = 50;
    // A lease of fewer tokens is not worth its cost.
    static constexpr std::int64_t least = 4;
    static constexpr base::duration shortest = std::chrono::milliseconds{100};
    static constexpr base::duration longest = std::chrono::seconds{10};

    // Largest share of the burst that is taken ahead. 0: none is.
    int percent = 0;
    // Time after which the tokens of a lease can no longer be spent.
    base::duration time = std::chrono::seconds{1};

    bool any() const { return percent > 0; }

    bool operator==(const token_lease&) const = default;
};

}  // namespace gateway::limit
