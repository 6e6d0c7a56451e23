// `floor_us` and `ceil_us` turn a moment into microseconds, as shared stores count. The direction
// of the rounding decides if a token may be spent too early or too late.
#pragma once

#include "gateway/base/clock.hpp"

#include <chrono>
#include <cstdint>

namespace gateway::store {

inline std::int64_t floor_us(base::instant moment)
{
    return std::chrono::floor<std::chrono::microseconds>(moment.time_since_epoch()).count();
}

inline std::int64_t ceil_us(base::instant moment)
{
    return std::chrono::ceil<std::chrono::microseconds>(moment.time_since_epoch()).count();
}

}  // namespace gateway::store
