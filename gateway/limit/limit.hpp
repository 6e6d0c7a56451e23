// A limit: how fast tokens come back, and how many a bucket holds. Impossible ones cannot be built.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limit/terms.hpp"

#include <cstdint>
#include <memory>
#include <optional>
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

    // `tokens` per `period`. Nothing if a number is below 1, if a token would take less than a
    // nanosecond, or if a full refill would take longer than max_refill, in either kind of ticks.
    static std::optional<limit> make(
        std::int64_t tokens, base::duration period, std::int64_t burst
    );

    // Nothing if a number is below 1, above windows::most_tokens, if there is less than a
    // microsecond per token, or if a full refill would take longer than max_refill.
    static std::optional<limit> in_windows(const window_options& options);

    // Tokens in a full bucket.
    std::int64_t burst() const { return nanoseconds_.burst; }

    // Time from empty to full.
    base::duration refill() const;

    // Whether what is owed under the other is paid back in the same way.
    bool issues_as(const limit& other) const;

    const terms& in_nanoseconds() const { return nanoseconds_; }

    // An interval below a microsecond becomes one.
    const terms& in_microseconds() const { return microseconds_; }

    // What it is to a script in a store whose clock is Unix time in microseconds, and shows `now`:
    // interval and burst; or with windows 0, burst, and windows::append_numbers().
    void append_numbers(std::vector<std::int64_t>& to, base::duration now) const;

    bool operator==(const limit& other) const
    {
        return burst() == other.burst() && issues_as(other);
    }

private:
    limit(const terms& nanoseconds, const terms& microseconds)
        : nanoseconds_(nanoseconds), microseconds_(microseconds)
    {}

    struct issuing {
        windows nanoseconds;
        windows microseconds;
    };

    // Null: tokens are issued one by one.
    std::shared_ptr<const issuing> windows_;
    // Divided once, here, and not at every decision.
    terms nanoseconds_;
    terms microseconds_;
};

}  // namespace gateway::limit
