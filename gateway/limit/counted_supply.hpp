// What the supplies of sliding limits and of requests in flight have in common.
#pragma once

#include "gateway/limit/debt.hpp"

#include <cstdint>

namespace gateway::limit {

// Its buckets count tokens, and keep no time.
class counted_supply {
public:
    constexpr std::int64_t unit() const { return 1; }

    constexpr lateness late(const bucket&) const { return {}; }

    constexpr std::int64_t issued_by(std::int64_t units) const { return units; }

    constexpr std::int64_t issued_in_last(std::int64_t) const { return 0; }

    constexpr std::int64_t most() const { return windows::most_tokens; }
};

}  // namespace gateway::limit
