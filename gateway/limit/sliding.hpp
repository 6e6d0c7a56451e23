// A sliding limit: its numbers, and its supply, which returns each token one window after it was
// taken.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limit/debt.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace gateway::limit {

class sliding_numbers {
public:
    // Makes a limit of `count` tokens in any span of time of `length`. A token is late by at most
    // one of the `parts` of it, or never late with 0 parts. Errors: returns nothing if a number is
    // below 1 or above windows::most_tokens, if the length is above windows::longest, or if a part
    // is below a microsecond.
    static std::optional<sliding_numbers> make(
        std::int64_t count, base::duration length, std::int64_t parts
    )
    {
        if (count < 1 || count > windows::most_tokens || parts < 0 ||
            length > std::chrono::seconds{windows::longest} ||
            length / std::chrono::microseconds{1} < std::max<std::int64_t>(parts, 1)) {
            return std::nullopt;
        }
        return sliding_numbers{count, length, parts};
    }

    terms in_ticks(base::duration tick) const
    {
        return {
            .interval = 1,
            .burst = count_,
            .how = supply_kind::sliding,
            .length = length_ / tick,
            .part = part_in(tick)};
    }

    std::optional<sliding_numbers> scaled(const smaller& to) const
    {
        return sliding_numbers{to.burst, length_, parts_};
    }

    std::optional<sliding_numbers> at_rate(std::int64_t tokens, base::duration period) const
    {
        return make(tokens, period, parts_);
    }

    base::duration refill() const { return length_; }

    void append_numbers(std::vector<std::int64_t>& to, base::duration) const
    {
        const terms t = in_ticks(std::chrono::microseconds{1});
        to.insert(to.end(), {sliding_code, t.burst, t.length, t.part});
    }

private:
    std::int64_t count_;
    base::duration length_;
    std::int64_t parts_;

    sliding_numbers(std::int64_t count, base::duration length, std::int64_t parts)
        : count_(count), length_(length), parts_(parts)
    {}

    std::int64_t part_in(base::duration tick) const
    {
        return parts_ == 0 ? 1 : (length_ / tick + parts_ - 1) / parts_;
    }
};

// Counts in tokens. A bucket owes what its history counts (limit/history.hpp).
class sliding_supply : public counted_supply {
public:
    sliding_supply(const terms& t, moment at) : terms_(t), at_(at) {}

    // Returns a bucket without its final time: when it is full is known once its history has been
    // charged, too.
    bucket owing(std::int64_t debt) const
    {
        return bucket::sliding(debt, debt > 0 ? INT64_MAX : at_.now);
    }

    bucket full_since(std::int64_t at) const { return bucket::sliding(0, at); }

    std::int64_t debt(const bucket& b) const { return tokens_owed(b, at_.now); }

    std::int64_t time_of(std::int64_t units, const lateness&) const
    {
        if (units <= 0) {
            return 0;
        }
        return taken_at(units) + terms_.length - at_.now;
    }

    // A request that waits counts from the end of its wait.
    std::int64_t full_in(std::int64_t debt, std::int64_t wait, const lateness& late) const
    {
        const std::int64_t waited =
            counted_at(terms_, at_.now + wait, at_.shift) + terms_.length - at_.now;
        const std::int64_t time = time_of(debt, late);
        return wait > 0 ? std::max(time, waited) : time;
    }

private:
    const terms& terms_;
    moment at_;

    // Returns when the n-th token was taken. Tokens that the history does not have are taken now.
    std::int64_t taken_at(std::int64_t n) const
    {
        const std::int64_t now = counted_at(terms_, at_.now, at_.shift);
        if (at_.past == nullptr) {
            return now;
        }
        return n <= at_.past->used() ? at_.past->taken_at(n) : std::max(now, at_.past->newest());
    }
};

}  // namespace gateway::limit
