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

std::optional<limit> limit::in_windows(const window_options& options)
{
    using std::chrono::microseconds;
    const auto& [count, length, aligned, dates, capacity] = options;
    if (count < 1 || capacity < 1 || count > windows::most_tokens ||
        capacity > windows::most_tokens || length / microseconds{1} < count) {
        return std::nullopt;
    }
    const wide refill = static_cast<wide>(length.count()) * ((capacity + count - 1) / count);
    if (refill > max_refill.count()) {
        return std::nullopt;
    }
    constexpr std::int64_t per_second = 1'000'000'000;
    const auto both = std::make_shared<const issuing>(issuing{
        {count, length.count(), per_second, aligned, dates},
        {count, length.count() / microsecond, per_second / microsecond, aligned, dates}});
    limit made{
        {.interval = 1, .burst = capacity, .issued_in = &both->nanoseconds},
        {.interval = 1, .burst = capacity, .issued_in = &both->microseconds}};
    made.windows_ = both;
    return made;
}

base::duration limit::refill() const
{
    if (windows_ == nullptr) {
        return base::duration{nanoseconds_.capacity()};
    }
    const windows& w = windows_->nanoseconds;
    return base::duration{(burst() + w.count() - 1) / w.count() * w.length()};
}

bool limit::issues_as(const limit& other) const
{
    if (windows_ == nullptr || other.windows_ == nullptr) {
        return windows_ == other.windows_ && nanoseconds_.interval == other.nanoseconds_.interval;
    }
    return windows_->nanoseconds == other.windows_->nanoseconds;
}

void limit::append_numbers(std::vector<std::int64_t>& to, base::duration now) const
{
    if (windows_ == nullptr) {
        to.insert(to.end(), {microseconds_.interval, microseconds_.burst});
        return;
    }
    to.insert(to.end(), {0, microseconds_.burst});
    windows_->microseconds.append_numbers(to, burst(), now.count() / microsecond);
}

}  // namespace gateway::limit
