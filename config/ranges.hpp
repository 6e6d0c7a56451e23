// Bounds that several parts of a configuration share.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>

namespace gateway::config {

inline constexpr base::duration shortest_timeout = std::chrono::milliseconds{1};
inline constexpr std::uint64_t most_connections = 1'000'000;
// Of a bucket, a rate or a cost.
inline constexpr std::uint64_t most_tokens = 1'000'000'000'000;

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;
inline constexpr std::uint64_t gib = 1024 * mib;

}  // namespace gateway::config
