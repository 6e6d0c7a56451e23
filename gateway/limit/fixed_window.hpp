// A limit of fixed windows: its numbers, and its supply, which issues all tokens of a window when
// the window begins.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limit/debt.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gateway::limit {

// `window_options` describes such a limit.
struct window_options {
    // Tokens issued when a window begins.
    std::int64_t count = 1;
    // Length of a window. With a calendar, the length of a usual window.
    base::duration length{0};
    // True: windows begin at multiples of the length since the Unix epoch, or as `dates` says.
    // False: each bucket's windows begin at an offset of its own, so that clients do not all return
    // at once.
    bool aligned = false;
    // Null: windows are equally long.
    std::shared_ptr<const calendar> dates = nullptr;
    // Tokens in a full bucket.
    std::int64_t capacity = 1;
};

// Returns the terms of a bucket of `burst` tokens. `w` outlives them.
terms window_terms(const windows& w, std::int64_t burst);

void append_window_numbers(
    const windows& w, std::int64_t burst, std::vector<std::int64_t>& to, base::duration now
);

class fixed_window_numbers {
public:
    // Errors: returns nothing if a number is below 1 or above windows::most_tokens, if there is
    // less than a microsecond per token, or if a full refill would take longer than
    // windows::longest.
    static std::optional<fixed_window_numbers> make(const window_options& options);

    terms in_ticks(base::duration tick) const
    {
        const bool is_fine = tick == base::duration{1};
        return window_terms(is_fine ? both_->nanoseconds : both_->microseconds, capacity_);
    }

    std::optional<fixed_window_numbers> scaled(const smaller& to) const;

    std::optional<fixed_window_numbers> at_rate(std::int64_t tokens, base::duration period) const
    {
        const bool aligned = both_->nanoseconds.aligned();
        return make({.count = tokens, .length = period, .aligned = aligned, .capacity = tokens});
    }

    base::duration refill() const;

    void append_numbers(std::vector<std::int64_t>& to, base::duration now) const
    {
        append_window_numbers(both_->microseconds, capacity_, to, now);
    }

private:
    struct issuing {
        windows nanoseconds;
        windows microseconds;
    };

    fixed_window_numbers(const issuing& both, std::int64_t capacity)
        : both_(std::make_shared<const issuing>(both)), capacity_(capacity)
    {}

    std::shared_ptr<const issuing> both_;
    std::int64_t capacity_;
};

// Counts in tokens.
class fixed_window_supply {
public:
    fixed_window_supply(const terms& t, moment at)
        : windows_(*t.issued_in), terms_(t), at_(at), index_(windows_.index(at.now + at.shift))
    {}

    std::int64_t unit() const { return 1; }

    // Returns what the bucket owed when it was written, less what was issued since.
    std::int64_t debt(const bucket& b) const
    {
        if (b.is_full(at_.now)) {
            return 0;
        }
        if (!b.follows(terms_)) {
            return std::min(tokens_owed(b, at_.now), windows_.most_owed());
        }
        const std::int64_t count = windows_.count();
        const std::int64_t unneeded = steps_for(b.owed()) * count - b.owed();
        const __int128 left = static_cast<__int128>(windows_to(b)) * count - unneeded;
        return static_cast<std::int64_t>(std::clamp<__int128>(left, 0, b.owed()));
    }

    // Returns the windows that must begin before the bucket is full, beyond those that pay its
    // debt.
    // Requires: b.follows(terms).
    lateness late(const bucket& b) const
    {
        if (b.is_full(at_.now)) {
            return {};
        }
        const std::int64_t to_come = windows_to(b);
        return {
            .windows = std::max<std::int64_t>(to_come - steps_for(b.owed()), 0),
            .most_ticks = b.full_at() - at_.now,
            .last_window = to_come};
    }

    bucket owing(std::int64_t debt) const { return {windows_, at_.now + time_of(debt, {}), debt}; }

    bucket full_since(std::int64_t at) const { return {windows_, at, 0}; }

    std::int64_t time_of(std::int64_t units, const lateness& late) const
    {
        if (units <= 0) {
            return 0;
        }
        const std::int64_t steps = steps_for(units) + late.windows;
        if (steps >= late.last_window) {
            return late.most_ticks;
        }
        return std::min(windows_.begin(index_ + steps) - (at_.now + at_.shift), late.most_ticks);
    }

    std::int64_t full_in(std::int64_t debt, std::int64_t, const lateness& late) const
    {
        return time_of(debt, late);
    }

    // Returns the units that are issued when `units` are: whole windows.
    std::int64_t issued_by(std::int64_t units) const
    {
        return units <= 0 ? 0 : steps_for(units) * windows_.count();
    }

    std::int64_t issued_in_last(std::int64_t ticks) const
    {
        const __int128 steps = index_ - windows_.index(at_.now + at_.shift - ticks);
        const __int128 issued = steps * windows_.count();
        return static_cast<std::int64_t>(std::min<__int128>(issued, windows::most_tokens));
    }

    std::int64_t most() const { return windows_.most_owed(); }

private:
    const windows& windows_;
    const terms& terms_;
    moment at_;
    // Number of the present window.
    std::int64_t index_;

    // Returns the windows that must begin before the bucket is full, at least one: once the clock
    // was set, the beginning of the present window may be nearest to where its end was.
    // Requires: the bucket is not full.
    std::int64_t windows_to(const bucket& b) const
    {
        const std::int64_t last = windows_.nearest(b.full_at() + at_.shift);
        return std::max<std::int64_t>(last - index_, 1);
    }

    // Returns the number of windows that issue `units`, at least one. Mostly it is one, and then
    // nothing has to be divided.
    std::int64_t steps_for(std::int64_t units) const
    {
        return units <= windows_.count() ? 1 : ceil_div(units, windows_.count());
    }
};

}  // namespace gateway::limit
