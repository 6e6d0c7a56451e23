// A limit's supply of tokens at one moment, and what a bucket owes to it. Debts are counted in
// units of the supply: a token is `unit()` of them.
//
//   line    one token after the other: a unit is a tick, so what a bucket owes is the time until it
//           is full. The generic cell rate algorithm (ITU-T I.371, "virtual scheduling") with the
//           theoretical arrival time read as "full at"
//   stairs  all tokens of a window when it begins: a unit is a token
//   trail   each token when its taking is one window old: a unit is a token, and what a bucket owes
//           is what its history counts (limit/history.hpp)
//   places  none by itself: a unit is a request in flight, whose place is given back at its end
//
// To the algebra (algebra.hpp) they are the same.
#pragma once

#include "gateway/limit/bucket.hpp"
#include "gateway/limit/history.hpp"
#include "gateway/limit/limit.hpp"

#include <algorithm>
#include <cstdint>

namespace gateway::limit {

// When a store asks, in its ticks.
struct moment {
    std::int64_t now = 0;
    // To the clock of the limit's windows; see windows::shift().
    std::int64_t shift = 0;
    // What a bucket of a trail has been charged; null: nothing.
    const history* past = nullptr;

    // Without windows and trails a time is all there is to it.
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr moment(std::int64_t at, std::int64_t to_windows = 0) : now(at), shift(to_windows) {}

    moment(std::int64_t at, const history& charged) : now(at), past(&charged) {}
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b)
{
    return a / b + (a % b > 0 ? 1 : 0);
}

// A debt of units worth `from` a token, in units worth `to`. Rounded up: a debt never shrinks by
// it.
constexpr std::int64_t rescaled(
    std::int64_t debt, std::int64_t from, std::int64_t to, std::int64_t most
)
{
    using wide = __int128;
    const wide scaled = (static_cast<wide>(debt) * to + from - 1) / from;
    return static_cast<std::int64_t>(std::min<wide>(scaled, most));
}

class line {
public:
    constexpr line(const terms& t, moment at) : terms_(t), now_(at.now) {}

    constexpr std::int64_t unit() const { return terms_.interval; }

    // What the bucket owes now.
    constexpr std::int64_t debt(const bucket& b) const
    {
        if (b.is_full(now_)) {
            return 0;
        }
        const bool follows = b.interval() == terms_.interval;
        return follows            ? b.full_at() - now_
               : b.in_windows()   ? rescaled(b.owed(), 1, terms_.interval, most_units)
               : b.interval() > 0 ? rescaled(b.full_at() - now_, b.interval(), unit(), most_units)
                                  : b.full_at() - now_;
    }

    // One that owes so much now.
    constexpr bucket owing(std::int64_t debt) const { return {terms_, now_ + debt}; }

    // One that is full, and was so at that moment.
    constexpr bucket full_since(std::int64_t at) const { return {terms_, at}; }

    // Ticks until so many units more have been issued.
    constexpr std::int64_t time_of(std::int64_t units) const { return units; }

    // Ticks until a bucket is full that owes so much, some of it for a request that waits.
    constexpr std::int64_t full_in(std::int64_t debt, std::int64_t) const { return debt; }

    // Units issued in the last so many ticks.
    constexpr std::int64_t issued_in_last(std::int64_t ticks) const { return ticks; }

    // Units that a bucket can owe.
    constexpr std::int64_t most() const { return most_units; }

private:
    static constexpr std::int64_t most_units = base::duration{limit::max_refill}.count();

    const terms& terms_;
    std::int64_t now_;
};

// Tokens that a bucket owes, whatever its limit was, rounded up.
constexpr std::int64_t tokens_owed(const bucket& b, std::int64_t now)
{
    if (b.is_full(now)) {
        return 0;
    }
    return b.in_windows() ? b.owed()
                          : rescaled(
                                b.full_at() - now,
                                std::max<std::int64_t>(b.interval(), 1),
                                1,
                                windows::most_tokens
                            );
}

class stairs {
public:
    stairs(const terms& t, moment at)
        : windows_(*t.issued_in), terms_(t), at_(at), index_(windows_.index(at.now + at.shift))
    {}

    std::int64_t unit() const { return 1; }

    // What the bucket owed when it was written, less what was issued since.
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
        const std::int64_t to_come = windows_.nearest(b.full_at() + at_.shift) - index_;
        const __int128 left = static_cast<__int128>(to_come) * count - unneeded;
        return static_cast<std::int64_t>(std::clamp<__int128>(left, 0, b.owed()));
    }

    bucket owing(std::int64_t debt) const { return {windows_, at_.now + time_of(debt), debt}; }

    bucket full_since(std::int64_t at) const { return {windows_, at, 0}; }

    std::int64_t time_of(std::int64_t units) const
    {
        if (units <= 0) {
            return 0;
        }
        return windows_.begin(index_ + steps_for(units)) - (at_.now + at_.shift);
    }

    std::int64_t full_in(std::int64_t debt, std::int64_t) const { return time_of(debt); }

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
    // Of the present window.
    std::int64_t index_;

    // Windows that issue so many units, at least one. Mostly it is one, and then nothing has to be
    // divided.
    std::int64_t steps_for(std::int64_t units) const
    {
        return units <= windows_.count() ? 1 : ceil_div(units, windows_.count());
    }
};

// What supplies have in common whose buckets count tokens, and keep no time.
class counted {
public:
    constexpr std::int64_t unit() const { return 1; }

    constexpr std::int64_t issued_in_last(std::int64_t) const { return 0; }

    constexpr std::int64_t most() const { return windows::most_tokens; }
};

class trail : public counted {
public:
    trail(const terms& t, moment at) : terms_(t), at_(at) {}

    // When it is full again is known when its history has been charged as well.
    bucket owing(std::int64_t debt) const
    {
        return bucket::sliding(debt, debt > 0 ? INT64_MAX : at_.now);
    }

    bucket full_since(std::int64_t at) const { return bucket::sliding(0, at); }

    std::int64_t debt(const bucket& b) const { return tokens_owed(b, at_.now); }

    std::int64_t time_of(std::int64_t units) const
    {
        if (units <= 0) {
            return 0;
        }
        return taken_at(units) + terms_.length - at_.now;
    }

    // What waits counts from the end of its wait.
    std::int64_t full_in(std::int64_t debt, std::int64_t wait) const
    {
        const std::int64_t waited = counted_at(terms_, at_.now + wait) + terms_.length - at_.now;
        return wait > 0 ? std::max(time_of(debt), waited) : time_of(debt);
    }

private:
    const terms& terms_;
    moment at_;

    // Of the n-th token; those that the history does not have are taken now.
    std::int64_t taken_at(std::int64_t n) const
    {
        const std::int64_t now = counted_at(terms_, at_.now);
        if (at_.past == nullptr) {
            return now;
        }
        return n <= at_.past->used() ? at_.past->taken_at(n) : std::max(now, at_.past->newest());
    }
};

class places : public counted {
public:
    explicit constexpr places(const terms& t) : terms_(t) {}

    constexpr bucket owing(std::int64_t debt) const { return bucket::in_flight(debt); }

    constexpr bucket full_since(std::int64_t) const { return bucket::in_flight(0); }

    // Tokens are no requests in flight.
    constexpr std::int64_t debt(const bucket& b) const
    {
        return b.counts_in_flight() ? b.owed() : 0;
    }

    // When somebody else's request ends is not known.
    constexpr std::int64_t time_of(std::int64_t units) const
    {
        return units > 0 ? terms_.length : 0;
    }

    constexpr std::int64_t full_in(std::int64_t debt, std::int64_t) const { return time_of(debt); }

private:
    const terms& terms_;
};

// Calls `use` with the supply of these terms.
template <typename Use>
auto with_supply(const terms& t, moment at, Use use)
{
    switch (t.how) {
        case supply_kind::stairs:
            return use(stairs{t, at});
        case supply_kind::trail:
            return use(trail{t, at});
        case supply_kind::places:
            return use(places{t});
        case supply_kind::line:
            break;
    }
    return use(line{t, at});
}

}  // namespace gateway::limit
