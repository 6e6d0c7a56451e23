// `sum` and `durations` combine the metrics of all workers.
#pragma once

#include "gateway/telemetry/block_table.hpp"
#include "gateway/telemetry/counter.hpp"

#include <vector>

namespace gateway::telemetry {

// Returns the sum over all workers. `value` picks a number from a block, and `which` points to a
// counter or gauge in it.
template <typename T, typename Value>
double sum(const row<T>& blocks, Value value)
{
    double total = 0;
    for (const auto& b : blocks) {
        total += static_cast<double>(value(b.metrics));
    }
    return total;
}

template <typename T, typename Counter>
double sum(const row<T>& blocks, Counter T::*which)
{
    return sum(blocks, [which](const T& m) { return (m.*which).value(); });
}

template <typename T>
std::vector<const histogram*> durations(const row<T>& blocks)
{
    std::vector<const histogram*> parts;
    for (const auto& b : blocks) {
        parts.push_back(&b.metrics.duration);
    }
    return parts;
}

}  // namespace gateway::telemetry
