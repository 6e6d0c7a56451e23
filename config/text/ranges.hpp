// Bounds of values, and those that several parts of a configuration share.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>

namespace gateway::config {

inline constexpr base::duration shortest_timeout = std::chrono::milliseconds{1};
inline constexpr base::duration longest_timeout = std::chrono::hours{24};

// Both bounds are allowed.
struct range {
    std::uint64_t min;
    std::uint64_t max;
};

struct times {
    base::duration min = shortest_timeout;
    base::duration max = longest_timeout;
};

inline constexpr std::uint64_t most_connections = 1'000'000;
// Most tokens of a bucket, a rate or a cost.
inline constexpr std::uint64_t most_tokens = 1'000'000'000'000;

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;
inline constexpr std::uint64_t gib = 1024 * mib;
// Most bytes of a request's body.
inline constexpr std::uint64_t largest_body = gib * mib;

}  // namespace gateway::config
