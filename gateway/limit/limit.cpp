#include "gateway/limit/limit.hpp"

#include <algorithm>

namespace gateway::limit {

namespace {

using wide = __int128;

// Ticks of `tick` nanoseconds per token, rounded up.
std::int64_t interval(std::int64_t tokens, base::duration period, std::int64_t tick)
{
    const wide divisor = static_cast<wide>(tokens) * tick;
    return static_cast<std::int64_t>((period.count() + divisor - 1) / divisor);
}

bool refills_in_time(const terms& t, std::int64_t tick)
{
    const wide refill = static_cast<wide>(t.interval) * t.burst;
    return refill <= base::duration{limit::max_refill}.count() / tick;
}

constexpr std::int64_t nanosecond = 1;
constexpr std::int64_t microsecond = 1000;

}  // namespace

std::optional<limit> limit::make(std::int64_t tokens, base::duration period, std::int64_t burst)
{
    if (tokens < 1 || period.count() < tokens || burst < 1) {
        return std::nullopt;
    }
    const terms fine{.interval = interval(tokens, period, nanosecond), .burst = burst};
    const terms coarse{.interval = interval(tokens, period, microsecond), .burst = burst};
    if (!refills_in_time(fine, nanosecond) || !refills_in_time(coarse, microsecond)) {
        return std::nullopt;
    }
    return limit{fine, coarse};
}

decision limit::without(decision said, std::int64_t cost) const
{
    said.remaining = std::min(said.remaining + cost, burst());
    said.reset_after -= std::min(said.reset_after, base::duration{cost * nanoseconds_.interval});
    return said;
}

}  // namespace gateway::limit
