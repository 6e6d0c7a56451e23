// `sum`, `durations` and the functions about stores combine the metrics of all workers.
#pragma once

#include "gateway/telemetry/block_table.hpp"
#include "gateway/telemetry/counter.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <algorithm>
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

// True if the configuration still has the store.
inline bool in_use(const row<store_metrics>& blocks)
{
    return std::any_of(blocks.begin(), blocks.end(), [](const auto& b) {
        return b.asked && b.metrics.up.value() != store_metrics::not_in_use;
    });
}

// True if the store is up for every worker that uses it.
inline bool is_up(const row<store_metrics>& blocks)
{
    return std::all_of(blocks.begin(), blocks.end(), [](const auto& b) {
        return !b.asked || b.metrics.up.value() != 0;
    });
}

inline bool is_breaker_open(const row<store_metrics>& blocks)
{
    return std::any_of(blocks.begin(), blocks.end(), [](const auto& b) {
        return b.metrics.breaker_open.value() != 0;
    });
}

}  // namespace gateway::telemetry
