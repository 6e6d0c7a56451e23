// `totals` is what all workers have counted since the process began, by the names of the
// configuration: a plain copy of the registry's blocks, added up. Pure.
#pragma once

#include "gateway/telemetry/counter.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace gateway::telemetry {

// Counts of a histogram's buckets, each alone.
using duration_counts = std::array<std::uint64_t, histogram::buckets>;
using failure_counts = std::array<std::uint64_t, max_failure_reasons>;

struct request_totals {
    duration_counts duration{};
    std::array<std::uint64_t, refusal_reason_names.size()> refused{};
    std::uint64_t server_errors = 0;
};

struct limit_totals {
    std::array<std::uint64_t, outcome_names.size()> decisions{};
};

struct upstream_totals {
    duration_counts duration{};
    failure_counts failures{};
    std::int64_t queued = 0;
};

struct store_totals {
    duration_counts duration{};
    failure_counts failures{};
    std::uint64_t requests = 0;
    std::uint64_t leased = 0;
    std::uint64_t remembered = 0;
    bool is_up = true;
    bool is_breaker_open = false;
};

struct connection_totals {
    std::int64_t clients = 0;
    std::int64_t upstreams = 0;
    // Requests held until their tokens are there.
    std::int64_t waiting = 0;
    std::int64_t tunnels = 0;
};

template <typename T>
using named = std::map<std::string, T, std::less<>>;

struct totals {
    request_totals requests{};
    connection_totals connections{};
    named<limit_totals> limits{};
    named<upstream_totals> upstreams{};
    // Only stores that the configuration still has.
    named<store_totals> stores{};
};

// Returns the sum of all counts.
std::uint64_t count_of(std::span<const std::uint64_t> counts);

// Returns what was counted between two moments. A count that has shrunk is taken as it is: the
// thing was counted anew.
template <std::size_t Size>
std::array<std::uint64_t, Size> difference(
    const std::array<std::uint64_t, Size>& now, const std::array<std::uint64_t, Size>& before
)
{
    std::array<std::uint64_t, Size> since{};
    for (std::size_t i = 0; i < Size; ++i) {
        since[i] = now[i] >= before[i] ? now[i] - before[i] : now[i];
    }
    return since;
}

// Returns the duration in seconds that the share `q` of those counted do not exceed, as Prometheus
// estimates it: even within a bucket, and the last bound for what is past it. Nothing was counted:
// nothing.
std::optional<double> quantile(const duration_counts& counts, double q);

}  // namespace gateway::telemetry
