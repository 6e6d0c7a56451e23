// `second` is what all workers have counted within one second. Pure.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace gateway::telemetry {

// Requests that ended in the second, each counted once.
struct verdict_counts {
    // Requests that no limit refused, and that did not end in an error of the next kind.
    std::uint64_t allowed = 0;
    // Responses of 500 and above that the configuration does not ask for.
    std::uint64_t errors = 0;
    // Requests that limits refused, by reason.
    std::array<std::uint64_t, refusal_reason_names.size()> refused{};

    std::uint64_t all() const;
};

// Units: seconds. Nothing: nothing took time in the second.
struct latency {
    std::optional<float> p50;
    std::optional<float> p99;
};

// `name` is an index of the names that the history knows.
struct limit_second {
    std::size_t name = 0;
    std::array<std::uint32_t, outcome_names.size()> decisions{};

    std::uint32_t of(outcome o) const { return decisions[static_cast<std::size_t>(o)]; }
};

struct upstream_second {
    std::size_t name = 0;
    std::uint32_t responses = 0;
    std::uint32_t failures = 0;
    // Reason of most failures, as an index of the registry's vocabulary; nothing without failures.
    std::optional<std::uint8_t> reason;
    latency took{};
};

struct store_second {
    std::size_t name = 0;
    // Round trips.
    std::uint32_t calls = 0;
    std::uint32_t failures = 0;
    std::optional<std::uint8_t> reason;
    // Decisions without a call: from tokens taken ahead, and rejections that were remembered.
    std::uint32_t leased = 0;
    std::uint32_t remembered = 0;
    bool is_up = true;
    latency took{};
};

struct second {
    // Number of the second since the process began: 1, 2, ...
    std::uint64_t number = 0;
    // End of the second, in Unix time.
    base::duration at{};
    verdict_counts requests{};
    latency took{};
    // Only those that counted something, and stores that are down.
    std::vector<limit_second> limits{};
    std::vector<upstream_second> upstreams{};
    std::vector<store_second> stores{};
};

}  // namespace gateway::telemetry
