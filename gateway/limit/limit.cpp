#include "gateway/limit/limit.hpp"

#include <algorithm>
#include <utility>

namespace gateway::limit {

namespace {

using wide = __int128;

constexpr std::int64_t nanosecond = 1;
constexpr std::int64_t microsecond = 1000;

// Returns the ticks of `tick` nanoseconds per token, rounded up.
wide interval_in(wide tokens, wide period, std::int64_t tick)
{
    const wide divisor = tokens * tick;
    return (period + divisor - 1) / divisor;
}

bool refills_in_time(wide interval, std::int64_t burst, std::int64_t tick)
{
    const wide most = base::duration{limit::max_refill}.count() / tick;
    return interval <= most && interval * burst <= most;
}

wide greatest_common_divisor(wide a, wide b)
{
    while (b != 0) {
        a = std::exchange(b, a % b);
    }
    return a;
}

// Returns windows in microseconds that issue `tokens` per `period` nanoseconds. Returns null if
// `interval` microseconds per token are exact to a part in a thousand, or if there is more than one
// token in a microsecond.
std::shared_ptr<const windows> spread_of(wide tokens, wide period, wide interval)
{
    wide count = tokens * microsecond;
    if (count > period || interval * count * 1000 <= period * 1001) {
        return nullptr;
    }
    const wide common = greatest_common_divisor(count, period);
    count /= common;
    wide length = period / common;
    if (length > windows::longest_period) {
        count = count * windows::longest_period / length;
        length = windows::longest_period;
    }
    return std::make_shared<const windows>(windows::spread(
        static_cast<std::int64_t>(count), static_cast<std::int64_t>(length), 1'000'000
    ));
}

// Returns the tokens of part `i` of `n`. The first parts get what cannot be divided.
std::int64_t part(std::int64_t tokens, std::int64_t i, std::int64_t n)
{
    return tokens / n + (i < tokens % n ? 1 : 0);
}

}  // namespace

std::optional<limit> limit::make(std::int64_t tokens, base::duration period, std::int64_t burst)
{
    if (tokens < 1 || period.count() < tokens || burst < 1) {
        return std::nullopt;
    }
    return of_tokens({tokens, period.count()}, burst);
}

std::optional<limit> limit::of_tokens(const rate& exact, std::int64_t burst)
{
    const wide fine = interval_in(exact.tokens, exact.period, nanosecond);
    const wide coarse = interval_in(exact.tokens, exact.period, microsecond);
    if (!refills_in_time(fine, burst, nanosecond) || !refills_in_time(coarse, burst, microsecond)) {
        return std::nullopt;
    }
    limit made{
        {.interval = static_cast<std::int64_t>(fine), .burst = burst},
        {.interval = static_cast<std::int64_t>(coarse), .burst = burst}};
    made.rate_ = exact;
    if (burst <= windows::most_tokens) {
        made.spread_ = spread_of(exact.tokens, exact.period, coarse);
    }
    if (made.spread_ != nullptr) {
        made.microseconds_ = {
            .interval = 1,
            .burst = burst,
            .issued_in = made.spread_.get(),
            .how = supply_kind::fixed_window};
    }
    return made;
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
    return of_windows(both, capacity);
}

limit limit::of_windows(std::shared_ptr<const issuing> both, std::int64_t capacity)
{
    limit made{
        {.interval = 1,
         .burst = capacity,
         .issued_in = &both->nanoseconds,
         .how = supply_kind::fixed_window},
        {.interval = 1,
         .burst = capacity,
         .issued_in = &both->microseconds,
         .how = supply_kind::fixed_window}};
    made.windows_ = std::move(both);
    return made;
}

std::optional<limit> limit::sliding(std::int64_t count, base::duration length, std::int64_t parts)
{
    using std::chrono::microseconds;
    if (count < 1 || count > windows::most_tokens || parts < 0 || length > max_refill ||
        length / microseconds{1} < std::max<std::int64_t>(parts, 1)) {
        return std::nullopt;
    }
    const auto in_ticks = [&](std::int64_t tick) {
        const std::int64_t ticks = length.count() / tick;
        return terms{
            .interval = 1,
            .burst = count,
            .how = supply_kind::sliding,
            .length = ticks,
            .part = parts == 0 ? 1 : (ticks + parts - 1) / parts};
    };
    return limit{in_ticks(nanosecond), in_ticks(microsecond)};
}

std::optional<limit> limit::in_flight(std::int64_t max, base::duration lease)
{
    if (max < 1 || max > windows::most_tokens || lease < shortest_lease) {
        return std::nullopt;
    }
    const auto in_ticks = [&](std::int64_t tick) {
        return terms{
            .interval = 1,
            .burst = max,
            .how = supply_kind::in_flight,
            .length = base::duration{std::chrono::seconds{1}}.count() / tick};
    };
    limit made{in_ticks(nanosecond), in_ticks(microsecond)};
    made.lease_ = lease;
    return made;
}

std::optional<limit> limit::split(std::int64_t n) const
{
    std::vector<limit> parts;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto one = scaled(
            {.burst = part(burst(), i, n), .count = part(window_count(), i, n), .times = n, .by = 1}
        );
        if (!one || counts_in_flight()) {
            return std::nullopt;
        }
        parts.push_back(*one);
    }
    limit made = *this;
    made.parts_ = std::make_shared<const std::vector<limit>>(std::move(parts));
    return made;
}

std::optional<limit> limit::shared_out(std::int64_t n, std::int64_t m) const
{
    const auto of = [n, m](std::int64_t tokens) {
        return static_cast<std::int64_t>(static_cast<wide>(tokens) * n / m);
    };
    const auto one =
        scaled({.burst = of(burst()), .count = of(window_count()), .times = m, .by = n});
    if (!one) {
        return std::nullopt;
    }
    limit made = *this;
    made.share_ = std::make_shared<const limit>(*one);
    return made;
}

std::int64_t limit::window_count() const
{
    return windows_ == nullptr ? 1 : windows_->nanoseconds.count();
}

std::optional<limit> limit::scaled(const smaller& to) const
{
    if (to.burst < 1 || (how() == supply_kind::fixed_window && to.count < 1)) {
        return std::nullopt;
    }
    if (how() == supply_kind::fixed_window) {
        const auto both = std::make_shared<const issuing>(issuing{
            windows_->nanoseconds.issuing(to.count), windows_->microseconds.issuing(to.count)});
        const limit made = of_windows(both, to.burst);
        return made.refill() <= max_refill ? std::optional{made} : std::nullopt;
    }
    if (how() != supply_kind::token_bucket) {
        limit made = *this;
        made.nanoseconds_.burst = made.microseconds_.burst = to.burst;
        return made;
    }
    return of_tokens({rate_.tokens * to.by, rate_.period * to.times}, to.burst);
}

base::duration limit::refill() const
{
    switch (how()) {
        case supply_kind::token_bucket:
            return base::duration{nanoseconds_.capacity()};
        case supply_kind::sliding:
            return base::duration{nanoseconds_.length};
        case supply_kind::in_flight:
            return base::duration{0};
        case supply_kind::fixed_window:
            break;
    }
    const windows& w = windows_->nanoseconds;
    return base::duration{(burst() + w.count() - 1) / w.count() * w.length()};
}

bool limit::issues_as(const limit& other) const
{
    const terms& a = nanoseconds_;
    const terms& b = other.nanoseconds_;
    const bool same_windows =
        windows_ == other.windows_ || (windows_ != nullptr && other.windows_ != nullptr &&
                                       windows_->nanoseconds == other.windows_->nanoseconds);
    const bool same_spread = spread_ == other.spread_ ||
                             (spread_ != nullptr && other.spread_ && *spread_ == *other.spread_);
    return a.how == b.how && a.interval == b.interval && a.length == b.length && a.part == b.part &&
           same_windows && same_spread;
}

void limit::append_numbers(std::vector<std::int64_t>& to, base::duration now) const
{
    const terms& t = microseconds_;
    switch (t.how) {
        case supply_kind::token_bucket:
            to.insert(to.end(), {t.interval, t.burst});
            break;
        case supply_kind::fixed_window:
            to.insert(to.end(), {windows_code, t.burst});
            t.issued_in->append_numbers(to, t.burst, now.count() / microsecond);
            break;
        case supply_kind::sliding:
            to.insert(to.end(), {sliding_code, t.burst, t.length, t.part});
            break;
        case supply_kind::in_flight:
            to.insert(to.end(), {in_flight_code, t.burst, lease_ / std::chrono::microseconds{1}});
            break;
    }
}

}  // namespace gateway::limit
