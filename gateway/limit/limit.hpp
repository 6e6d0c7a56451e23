// `limit` says how fast tokens come back and how many a bucket holds. An impossible limit cannot be
// built.
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

// `window_options` describes a limit whose tokens are issued window by window.
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

class limit {
public:
    // Longest time that a full refill may take. No sum in the algebra can then overflow 64-bit
    // nanoseconds, or a double's 53 bits of microseconds.
    static constexpr base::duration max_refill = std::chrono::seconds{windows::longest};

    // Longest time that a request may wait for its tokens.
    static constexpr base::duration max_wait = std::chrono::minutes{10};

    // Returns a token bucket of `tokens` per `period`. The rate is exact to a part in a thousand
    // and never higher: in nanoseconds up to 1,000,000 tokens a second, and in microseconds
    // likewise, where spread windows issue tokens that take no whole number of microseconds.
    // Errors: returns nothing if a number is below 1, if a token would take less than a nanosecond,
    // or if a full refill would take longer than max_refill in either kind of ticks.
    static std::optional<limit> make(
        std::int64_t tokens, base::duration period, std::int64_t burst
    );

    // Returns a limit whose tokens are issued window by window.
    // Errors: returns nothing if a number is below 1 or above windows::most_tokens, if there is
    // less than a microsecond per token, or if a full refill would take longer than max_refill.
    static std::optional<limit> in_windows(const window_options& options);

    // Returns a limit of `count` tokens in any span of time of `length`. A token comes back
    // `length` after it was taken, and is late by at most one of the `parts` of it, or never late
    // with 0 parts.
    // Errors: returns nothing if a number is below 1 or above windows::most_tokens, if the length
    // is above max_refill, or if a part is below a microsecond.
    static std::optional<limit> sliding(
        std::int64_t count, base::duration length, std::int64_t parts
    );

    // Returns a limit of `max` requests in flight. A shared store keeps a permit for `lease`,
    // unless it is renewed.
    // Errors: returns nothing if `max` is below 1 or above windows::most_tokens, or if the lease is
    // below shortest_lease.
    static std::optional<limit> in_flight(std::int64_t max, base::duration lease);

    static constexpr base::duration shortest_lease = std::chrono::seconds{1};

    // Most parts of a split bucket.
    static constexpr std::int64_t most_parts = 64;

    // Returns the same limit for buckets that are split in `n` parts. Each part is a limit of its
    // own, and all parts together hold and issue what this limit does, never more.
    // Requires: 2 <= n <= most_parts.
    // Errors: returns nothing if a part would hold or issue less than a token, if its refill would
    // take longer than max_refill, or if the limit counts requests in flight.
    std::optional<limit> split(std::int64_t n) const;

    // Returns the same limit with a share of `n` of `m` beside it, which one gateway of several
    // grants while the shared store cannot be asked. Shares are rounded down, so they never add up
    // to more.
    // Errors: returns nothing if the share would hold or issue less than a token.
    std::optional<limit> shared_out(std::int64_t n, std::int64_t m) const;

    // Returns the share, or null if there is none.
    const limit* share() const { return share_.get(); }

    // Returns the parts of a split bucket, those that hold a token more first. Empty if not split.
    std::span<const limit> parts() const
    {
        return parts_ == nullptr ? std::span<const limit>{} : std::span<const limit>{*parts_};
    }

    // Returns the most tokens that one request can ever take.
    std::int64_t most_at_once() const { return parts_ == nullptr ? burst() : (*parts_)[0].burst(); }

    // Returns the tokens in a full bucket, all its parts together.
    std::int64_t burst() const { return nanoseconds_.burst; }

    supply_kind how() const { return nanoseconds_.how; }

    bool counts_in_flight() const { return how() == supply_kind::in_flight; }

    // True if a bucket's debt is paid back at a rate, which may change.
    bool keeps_debts() const
    {
        return how() == supply_kind::token_bucket || how() == supply_kind::fixed_window;
    }

    // Returns how long a shared store keeps a permit. 0 unless the limit counts requests in flight.
    base::duration lease() const { return lease_; }

    // Returns the time from empty to full. 0 if the limit counts requests in flight.
    base::duration refill() const;

    // True if a debt under the other limit is paid back in the same way.
    bool issues_as(const limit& other) const;

    const terms& in_nanoseconds() const { return nanoseconds_; }

    // Returns the terms in microseconds. A token bucket may be windows there, and an interval below
    // a microsecond becomes one microsecond.
    const terms& in_microseconds() const { return microseconds_; }

    // Returns how fast tokens come, in microseconds.
    // Requires: a token bucket.
    pace pace_in_microseconds() const
    {
        return spread_ == nullptr ? pace{1, microseconds_.interval} : spread_->pace();
    }

    // Appends the limit's numbers for a script in a store whose clock is Unix time in microseconds.
    // `now` is the present time of that clock. The numbers are:
    //   token bucket  interval, burst
    //   windows       windows_code, burst, windows::append_numbers()
    //   sliding       sliding_code, burst, length, part
    //   in flight     in_flight_code, burst, lease
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

    // Tokens per nanoseconds, exactly. The numbers of a part are products, hence the wide type.
    struct rate {
        __int128 tokens;
        __int128 period;
    };

    static std::optional<limit> of_tokens(const rate& exact, std::int64_t burst);

    // `smaller` describes a smaller limit of the same kind, whose tokens take `times`/`by` as long.
    // Only windows use `count`.
    struct smaller {
        std::int64_t burst;
        std::int64_t count;
        std::int64_t times;
        std::int64_t by;
    };

    // Returns the smaller limit, or nothing if it cannot exist.
    std::optional<limit> scaled(const smaller& to) const;
    std::int64_t window_count() const;

    // Null unless the limit issues its tokens window by window.
    std::shared_ptr<const issuing> windows_;
    // The divisions are done once, at construction, and not at every decision.
    terms nanoseconds_;
    terms microseconds_;
    // The rate of a token bucket.
    rate rate_{1, 1};
    // Windows of a token bucket whose tokens take no whole number of microseconds, else null.
    std::shared_ptr<const windows> spread_;
    base::duration lease_{0};
    // Null: buckets are not split.
    std::shared_ptr<const std::vector<limit>> parts_;
    std::shared_ptr<const limit> share_;
};

}  // namespace gateway::limit
