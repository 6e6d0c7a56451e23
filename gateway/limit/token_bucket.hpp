// A token bucket: its numbers, and its supply, which issues tokens one after the other.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limit/debt.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gateway::limit {

class token_bucket_numbers {
public:
    // Tokens per nanoseconds, exactly. The numbers of a part are products, hence the wide type.
    struct rate {
        __int128 tokens;
        __int128 period;
    };

    // Makes a token bucket of `tokens` per `period`. The rate is exact to a part in a thousand
    // and never higher: in nanoseconds up to 1,000,000 tokens a second, and in microseconds
    // likewise, where spread windows issue tokens that take no whole number of microseconds.
    // Errors: returns nothing if a number is below 1, if a token would take less than a nanosecond,
    // or if a full refill would take longer than windows::longest in either kind of ticks.
    static std::optional<token_bucket_numbers> make(
        std::int64_t tokens, base::duration period, std::int64_t burst
    )
    {
        const bool is_possible = tokens >= 1 && period.count() >= tokens && burst >= 1;
        return is_possible ? of({tokens, period.count()}, burst) : std::nullopt;
    }

    // Returns windows of one token each where a token takes no whole number of microseconds.
    terms in_ticks(base::duration tick) const;

    std::optional<token_bucket_numbers> scaled(const smaller& to) const
    {
        return of({rate_.tokens * to.by, rate_.period * to.times}, to.burst);
    }

    std::optional<token_bucket_numbers> at_rate(std::int64_t tokens, base::duration period) const
    {
        return make(tokens, period, tokens);
    }

    base::duration refill() const { return base::duration{fine_ * burst_}; }

    void append_numbers(std::vector<std::int64_t>& to, base::duration now) const;

private:
    static std::optional<token_bucket_numbers> of(const rate& exact, std::int64_t burst);

    rate rate_{1, 1};
    std::int64_t burst_ = 0;
    // Nanoseconds and microseconds per token.
    std::int64_t fine_ = 0;
    std::int64_t coarse_ = 0;
    // Null if a token takes a whole number of microseconds.
    std::shared_ptr<const windows> spread_;
};

// Counts in ticks, so a bucket's debt is the time until it is full. It is the generic cell rate
// algorithm (ITU-T I.371, "virtual scheduling") with the theoretical arrival time read as "full
// at".
class token_bucket_supply {
public:
    constexpr token_bucket_supply(const terms& t, moment at) : terms_(t), now_(at.now) {}

    constexpr std::int64_t unit() const { return terms_.interval; }

    // Returns what the bucket owes now.
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

    // Returns a bucket that owes `debt` now.
    constexpr bucket owing(std::int64_t debt) const { return {terms_, now_ + debt}; }

    // Returns a bucket that is full, and has been since `at`.
    constexpr bucket full_since(std::int64_t at) const { return {terms_, at}; }

    // Returns by how much tokens come later than the bucket's debt says: never here.
    constexpr lateness late(const bucket&) const { return {}; }

    // Returns the ticks until so many units more have been issued.
    constexpr std::int64_t time_of(std::int64_t units, const lateness&) const { return units; }

    // Returns the units that have been issued by the time `units` have: no more here.
    constexpr std::int64_t issued_by(std::int64_t units) const { return units; }

    // Returns the ticks until a bucket with this debt is full. Part of the debt may belong to a
    // request that waits.
    constexpr std::int64_t full_in(std::int64_t debt, std::int64_t, const lateness&) const
    {
        return debt;
    }

    // Returns the units issued in the last so many ticks.
    constexpr std::int64_t issued_in_last(std::int64_t ticks) const { return ticks; }

    // Returns the most units that a bucket can owe.
    constexpr std::int64_t most() const { return most_units; }

private:
    static constexpr std::int64_t most_units =
        base::duration{std::chrono::seconds{windows::longest}}.count();

    const terms& terms_;
    std::int64_t now_;
};

}  // namespace gateway::limit
