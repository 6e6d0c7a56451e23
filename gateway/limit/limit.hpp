// A limit: how fast tokens come back, and how many a bucket holds. Impossible ones cannot be built.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limit/pace.hpp"
#include "gateway/limit/terms.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace gateway::limit {

// Tokens that are issued window by window.
struct window_options {
    // Tokens issued when a window begins.
    std::int64_t count = 1;
    // With a calendar, that of a usual window.
    base::duration length{0};
    // False: each bucket's windows begin at an offset of its own, so that clients do not all return
    // at once. True: at multiples of the length since the Unix epoch, or as `dates` says.
    bool aligned = false;
    // Null: windows are equally long.
    std::shared_ptr<const calendar> dates = nullptr;
    // Most tokens in a bucket.
    std::int64_t capacity = 1;
};

class limit {
public:
    // A full refill may take at most this long: then no sum in the algebra can overflow,
    // in 64-bit nanoseconds or in a double's 53 bits of microseconds.
    static constexpr base::duration max_refill = std::chrono::seconds{windows::longest};

    // The longest that a request may wait for its tokens.
    static constexpr base::duration max_wait = std::chrono::minutes{10};

    // `tokens` per `period`, exact to a part in a thousand: in nanoseconds if there are at most
    // 1,000,000 a second, in microseconds likewise, where tokens that take no whole number of them
    // are issued by spread windows. Never more. Nothing if a number is below 1, if a token would
    // take less than a nanosecond, or if a full refill would take longer than max_refill, in either
    // kind of ticks.
    static std::optional<limit> make(
        std::int64_t tokens, base::duration period, std::int64_t burst
    );

    // Nothing if a number is below 1, above windows::most_tokens, if there is less than a
    // microsecond per token, or if a full refill would take longer than max_refill.
    static std::optional<limit> in_windows(const window_options& options);

    // `count` in any stretch of time of that length. A token comes back when its taking is that
    // old, at most a part of it late; with 0 parts exactly then. Nothing if a number is below 1,
    // above windows::most_tokens, if the length is above max_refill, or if a part is below a
    // microsecond.
    static std::optional<limit> sliding(
        std::int64_t count, base::duration length, std::int64_t parts
    );

    // `max` requests in flight. In a shared store a place is kept for `lease`, unless it is
    // renewed. Nothing if max is below 1 or above windows::most_tokens, or the lease below
    // shortest_lease.
    static std::optional<limit> in_flight(std::int64_t max, base::duration lease);

    static constexpr base::duration shortest_lease = std::chrono::seconds{1};

    // Most parts of a split bucket.
    static constexpr std::int64_t most_parts = 64;

    // The same of buckets that are split in `n` parts, 2 to most_parts. Each part is a limit, and
    // what all hold and issue adds up to what this one does, never to more. Nothing if a part would
    // hold or issue less than a token, if its refill would take longer than max_refill, or of
    // places.
    std::optional<limit> split(std::int64_t n) const;

    // The same, and beside it a share of it, `n` of `m`: what one gateway of several gives while
    // nobody can be asked. Rounded down, so that such shares never add up to more. Nothing if it
    // would hold or issue less than a token.
    std::optional<limit> shared_out(std::int64_t n, std::int64_t m) const;

    // Null: it is not shared out.
    const limit* share() const { return share_.get(); }

    // Of a split bucket, those that hold a token more first; of others empty.
    std::span<const limit> parts() const
    {
        return parts_ == nullptr ? std::span<const limit>{} : std::span<const limit>{*parts_};
    }

    // The most that one request can ever take.
    std::int64_t most_at_once() const { return parts_ == nullptr ? burst() : (*parts_)[0].burst(); }

    // Tokens in a full bucket, of all its parts.
    std::int64_t burst() const { return nanoseconds_.burst; }

    supply_kind how() const { return nanoseconds_.how; }

    // Whether what a bucket owes is paid back at a rate, which may change.
    bool counts_in_flight() const { return how() == supply_kind::in_flight; }

    bool keeps_debts() const
    {
        return how() == supply_kind::token_bucket || how() == supply_kind::fixed_window;
    }

    // Of places; 0 of others.
    base::duration lease() const { return lease_; }

    // Time from empty to full; of places 0.
    base::duration refill() const;

    // Whether what is owed under the other is paid back in the same way.
    bool issues_as(const limit& other) const;

    const terms& in_nanoseconds() const { return nanoseconds_; }

    // A token bucket's may be windows; an interval below a microsecond becomes one.
    const terms& in_microseconds() const { return microseconds_; }

    // Returns how fast tokens come, in microseconds. Requires: a token bucket.
    pace pace_in_microseconds() const
    {
        return spread_ == nullptr ? pace{1, microseconds_.interval} : spread_->pace();
    }

    // What it is to a script in a store whose clock is Unix time in microseconds, and shows `now`:
    // interval and burst; with windows 0, burst, and windows::append_numbers(); if sliding -1,
    // burst, length and part; in flight -2, burst, and the lease.
    void append_numbers(std::vector<std::int64_t>& to, base::duration now) const;

    bool operator==(const limit& other) const
    {
        const bool same_share =
            share_ == other.share_ ||
            (share_ != nullptr && other.share_ != nullptr && *share_ == *other.share_);
        return burst() == other.burst() && lease_ == other.lease_ && issues_as(other) &&
               parts().size() == other.parts().size() && same_share;
    }

private:
    limit(const terms& nanoseconds, const terms& microseconds)
        : nanoseconds_(nanoseconds), microseconds_(microseconds)
    {}

    struct issuing {
        windows nanoseconds;
        windows microseconds;
    };

    static limit of_windows(std::shared_ptr<const issuing> both, std::int64_t capacity);

    // Tokens per nanoseconds, exactly. The numbers of a part are products.
    struct rate {
        __int128 tokens;
        __int128 period;
    };

    static std::optional<limit> of_tokens(const rate& exact, std::int64_t burst);

    // A smaller one of the same kind, whose tokens take `times`/`by` as long; `count` is only that
    // of windows. Nothing: there is none.
    struct smaller {
        std::int64_t burst;
        std::int64_t count;
        std::int64_t times;
        std::int64_t by;
    };

    std::optional<limit> scaled(const smaller& to) const;
    std::int64_t window_count() const;

    // Null: tokens are issued one by one.
    std::shared_ptr<const issuing> windows_;
    // Divided once, here, and not at every decision.
    terms nanoseconds_;
    terms microseconds_;
    // The rate of a token bucket.
    rate rate_{1, 1};
    // The windows of a token bucket whose tokens take no whole number of microseconds; else null.
    std::shared_ptr<const windows> spread_;
    base::duration lease_{0};
    // Null: a bucket is whole.
    std::shared_ptr<const std::vector<limit>> parts_;
    std::shared_ptr<const limit> share_;
};

}  // namespace gateway::limit
