#include "gateway/limit/token_bucket.hpp"

#include "gateway/limit/fixed_window.hpp"

#include <utility>

namespace gateway::limit {

namespace {

using wide = __int128;

constexpr std::int64_t nanosecond = 1;
constexpr std::int64_t microsecond = 1000;

// Returns the ticks of `tick` nanoseconds per token, rounded up.
wide interval_in(const token_bucket_numbers::rate& exact, std::int64_t tick)
{
    const wide divisor = exact.tokens * tick;
    return (exact.period + divisor - 1) / divisor;
}

bool refills_in_time(wide interval, std::int64_t burst, std::int64_t tick)
{
    const wide most = base::duration{std::chrono::seconds{windows::longest}}.count() / tick;
    return interval <= most && interval * burst <= most;
}

wide greatest_common_divisor(wide a, wide b)
{
    while (b != 0) {
        a = std::exchange(b, a % b);
    }
    return a;
}

// Returns windows in microseconds that issue tokens at this rate. Returns null if `interval`
// microseconds per token are exact to a part in a thousand, or if there is more than one token in a
// microsecond.
std::shared_ptr<const windows> spread_of(const token_bucket_numbers::rate& exact, wide interval)
{
    wide count = exact.tokens * microsecond;
    if (count > exact.period || interval * count * 1000 <= exact.period * 1001) {
        return nullptr;
    }
    const wide common = greatest_common_divisor(count, exact.period);
    count /= common;
    wide length = exact.period / common;
    if (length > windows::longest_period) {
        count = count * windows::longest_period / length;
        length = windows::longest_period;
    }
    return std::make_shared<const windows>(windows::spread(
        static_cast<std::int64_t>(count), static_cast<std::int64_t>(length), 1'000'000
    ));
}

}  // namespace

std::optional<token_bucket_numbers> token_bucket_numbers::of(const rate& exact, std::int64_t burst)
{
    const wide fine = interval_in(exact, nanosecond);
    const wide coarse = interval_in(exact, microsecond);
    if (!refills_in_time(fine, burst, nanosecond) || !refills_in_time(coarse, burst, microsecond)) {
        return std::nullopt;
    }
    token_bucket_numbers made;
    made.rate_ = exact;
    made.burst_ = burst;
    made.fine_ = static_cast<std::int64_t>(fine);
    made.coarse_ = static_cast<std::int64_t>(coarse);
    made.spread_ = burst <= windows::most_tokens ? spread_of(exact, coarse) : nullptr;
    return made;
}

terms token_bucket_numbers::in_ticks(base::duration tick) const
{
    if (tick == base::duration{nanosecond}) {
        return {.interval = fine_, .burst = burst_};
    }
    return spread_ == nullptr ? terms{.interval = coarse_, .burst = burst_}
                              : window_terms(*spread_, burst_);
}

void token_bucket_numbers::append_numbers(std::vector<std::int64_t>& to, base::duration now) const
{
    if (spread_ == nullptr) {
        to.insert(to.end(), {coarse_, burst_});
    } else {
        append_window_numbers(*spread_, burst_, to, now);
    }
}

}  // namespace gateway::limit
