#include "gateway/limit/limit.hpp"

namespace gateway::limit {

namespace {

using wide = __int128;

// Ticks of `tick` nanoseconds per token, rounded up.
std::int64_t interval(std::int64_t tokens, base::duration period, std::int64_t tick)
{
    const wide divisor = static_cast<wide>(tokens) * tick;
    return static_cast<std::int64_t>((period.count() + divisor - 1) / divisor);
}

bool refills_in_time(std::int64_t interval, std::int64_t burst, std::int64_t tick)
{
    const wide refill = static_cast<wide>(interval) * burst;
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
    for (const std::int64_t tick : {nanosecond, microsecond}) {
        if (!refills_in_time(interval(tokens, period, tick), burst, tick)) {
            return std::nullopt;
        }
    }
    return limit{tokens, period, burst};
}

terms limit::in_nanoseconds() const
{
    return {.interval = interval(tokens_, period_, nanosecond), .burst = burst_};
}

terms limit::in_microseconds() const
{
    return {.interval = interval(tokens_, period_, microsecond), .burst = burst_};
}

}  // namespace gateway::limit
