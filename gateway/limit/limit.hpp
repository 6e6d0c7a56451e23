// `limit` says how fast tokens come back and how many a bucket holds. An impossible limit cannot be
// built.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limit/fixed_window.hpp"
#include "gateway/limit/in_flight.hpp"
#include "gateway/limit/pace.hpp"
#include "gateway/limit/sliding.hpp"
#include "gateway/limit/terms.hpp"
#include "gateway/limit/token_bucket.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace gateway::limit {

class limit {
public:
    // Longest time that a full refill may take. No sum in the algebra can then overflow 64-bit
    // nanoseconds, or a double's 53 bits of microseconds.
    static constexpr base::duration max_refill = std::chrono::seconds{windows::longest};

    // Longest time that a request may wait for its tokens.
    static constexpr base::duration max_wait = std::chrono::minutes{10};

    // Each of these returns a limit of one kind, or nothing if its numbers are impossible: see
    // make() of that kind's numbers.
    static std::optional<limit> make(std::int64_t tokens, base::duration period, std::int64_t burst)
    {
        return of(token_bucket_numbers::make(tokens, period, burst));
    }

    static std::optional<limit> in_windows(const window_options& options)
    {
        return of(fixed_window_numbers::make(options));
    }

    static std::optional<limit> sliding(
        std::int64_t count, base::duration length, std::int64_t parts
    )
    {
        return of(sliding_numbers::make(count, length, parts));
    }

    static std::optional<limit> in_flight(std::int64_t max, base::duration lease)
    {
        return of(in_flight_numbers::make(max, lease));
    }

    static constexpr base::duration shortest_lease = in_flight_numbers::shortest_lease;

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

    // Returns a limit of the same kind that issues `tokens` per `period` and holds as many. It is
    // neither split nor shared out. Windows of a calendar begin at multiples of the period.
    // Errors: returns nothing if the numbers are impossible, or if it counts requests in flight.
    std::optional<limit> at_rate(std::int64_t tokens, base::duration period) const;

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

    bool counts_in_flight() const { return nanoseconds_.counts_permits(); }

    // True if a bucket's debt is paid back at a rate, which may change.
    bool keeps_debts() const { return nanoseconds_.keeps_debts(); }

    // Returns how long a shared store keeps a permit. 0 unless the limit counts requests in flight.
    base::duration lease() const
    {
        const auto* const permits = std::get_if<in_flight_numbers>(&numbers_);
        return permits == nullptr ? base::duration{0} : permits->lease();
    }

    // Returns the time from empty to full. 0 if the limit counts requests in flight.
    base::duration refill() const
    {
        return std::visit([](const auto& n) { return n.refill(); }, numbers_);
    }

    // True if a debt under the other limit is paid back in the same way.
    bool issues_as(const limit& other) const
    {
        return nanoseconds_.issues_as(other.nanoseconds_) &&
               microseconds_.issues_as(other.microseconds_);
    }

    const terms& in_nanoseconds() const { return nanoseconds_; }

    // Returns the terms in microseconds. A token bucket may be windows there, and an interval below
    // a microsecond becomes one microsecond.
    const terms& in_microseconds() const { return microseconds_; }

    // Returns how fast tokens come, in microseconds.
    // Requires: a token bucket.
    pace pace_in_microseconds() const
    {
        const terms& t = microseconds_;
        return t.issued_in == nullptr ? pace{1, t.interval} : t.issued_in->pace();
    }

    // Appends the limit's numbers for a script in a store whose clock is Unix time in microseconds.
    // `now` is the present time of that clock. They begin with a token bucket's interval or the
    // code of another kind, and the burst.
    void append_numbers(std::vector<std::int64_t>& to, base::duration now) const
    {
        std::visit([&to, now](const auto& n) { n.append_numbers(to, now); }, numbers_);
    }

    bool operator==(const limit& other) const
    {
        const bool same_share =
            share_ == other.share_ ||
            (share_ != nullptr && other.share_ != nullptr && *share_ == *other.share_);
        return burst() == other.burst() && lease() == other.lease() && issues_as(other) &&
               parts().size() == other.parts().size() && same_share;
    }

private:
    // Each kind of limit has its own numbers, all with the same functions.
    using any_numbers = std::
        variant<token_bucket_numbers, fixed_window_numbers, sliding_numbers, in_flight_numbers>;

    explicit limit(any_numbers numbers);

    template <typename Numbers>
    static std::optional<limit> of(const std::optional<Numbers>& numbers)
    {
        return numbers ? std::optional{limit{*numbers}} : std::nullopt;
    }

    // Returns the smaller limit, or nothing if it cannot exist.
    std::optional<limit> scaled(const smaller& to) const;

    std::int64_t window_count() const
    {
        return nanoseconds_.issued_in == nullptr ? 1 : nanoseconds_.issued_in->count();
    }

    any_numbers numbers_;
    // The divisions are done once, at construction, and not at every decision.
    terms nanoseconds_;
    terms microseconds_;
    // Null: buckets are not split.
    std::shared_ptr<const std::vector<limit>> parts_;
    std::shared_ptr<const limit> share_;
};

}  // namespace gateway::limit
