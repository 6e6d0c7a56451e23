// `counted_supply` is the common part of the supplies of sliding limits and of requests in flight.
#pragma once

#include "gateway/limit/debt.hpp"

#include <cstdint>

namespace gateway::limit {

// Buckets of this supply store a number of tokens and no time.
class counted_supply {
public:
    constexpr std::int64_t unit() const { return 1; }

    constexpr lateness late(const bucket&) const { return {}; }

    constexpr std::int64_t issued_by(std::int64_t units) const { return units; }

    constexpr std::int64_t issued_in_last(std::int64_t) const { return 0; }

    constexpr std::int64_t most() const { return windows::most_tokens; }
};

}  // namespace gateway::limit
