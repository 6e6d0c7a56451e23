// Sums of what the workers have counted.
#pragma once

#include "gateway/telemetry/block_table.hpp"
#include "gateway/telemetry/counter.hpp"

#include <vector>

namespace gateway::telemetry {

// Returns the sum over workers of what `value` picks from a block, or of the counter or gauge that
// it points to.
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
