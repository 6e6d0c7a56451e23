// `run_trials` decides the arrivals at a limit's buckets again under other numbers, by the algebra
// of limits.
#pragma once

#include "gateway/limit/terms.hpp"
#include "gateway/replay/arrivals.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gateway::replay {

// `trial` is a pair of numbers, and what would have come of it.
struct trial {
    // The rate as configurations write it, and its tokens a second.
    std::string rate;
    double per_second = 0;
    std::int64_t burst = 1;
    limit::terms terms{};
    // Keeps the windows of the terms, if they have any.
    std::shared_ptr<const limit::windows> windows{};

    std::uint64_t rejected = 0;
    std::uint64_t rejected_clients = 0;
};

// Sets the results of all trials.
// Requires: `from` is sorted and not empty.
void run_trials(arrivals& from, std::span<trial> trials);

}  // namespace gateway::replay
