// `bucket` is what a store keeps for one client under one limit, in 16 bytes. Only the algebra
// knows their meaning (limit/supply.hpp). A store copies a bucket and asks if it may be forgotten.
#pragma once

#include "gateway/limit/terms.hpp"

#include <algorithm>
#include <cstdint>

namespace gateway::limit {

class bucket {
public:
    // Makes a bucket that was never charged.
    constexpr bucket() = default;

    // Makes a bucket charged under `t`, a supply of one token at a time, that is full at `full_at`.
    constexpr bucket(const terms& t, std::int64_t full_at) : full_at_(full_at), made_(t.interval) {}

    // Makes a bucket of windows that owes `owed` tokens now and is full at `full_at`, the moment at
    // which one of the windows begins.
    bucket(const windows& w, std::int64_t full_at, std::int64_t owed)
        : full_at_(full_at), made_(~(owed | (w.id() << owed_bits)))
    {}

    // Returns a bucket of `requests` in flight, whose permits do not come back by themselves. It
    // counts only permits with the number `first` or a higher one.
    static constexpr bucket in_flight(std::int64_t requests, std::int64_t first = 0)
    {
        return counting(requests, requests > 0 ? INT64_MAX - first : 0, in_flight_id);
    }

    // Returns the lowest number of a permit that counts here.
    // Requires: counts_in_flight(), and at least one request in flight.
    constexpr std::int64_t first_permit() const { return INT64_MAX - full_at_; }

    constexpr bool counts_in_flight() const { return is_counting(in_flight_id); }

    // Returns a bucket whose tokens come back as its history says, all of them by `full_at`.
    static constexpr bucket sliding(std::int64_t tokens, std::int64_t full_at)
    {
        return counting(tokens, full_at, sliding_id);
    }

    constexpr bool slides() const { return is_counting(sliding_id); }

    constexpr bool never_charged() const { return made_ == 0; }

    // Returns the moment from which the bucket is as good as never seen.
    constexpr std::int64_t full_at() const { return full_at_; }

    constexpr bool is_full(std::int64_t now) const { return full_at_ <= now; }

    // True if the bucket was charged under the rate or the windows of `t`, or counts as `t` does.
    bool follows(const terms& t) const
    {
        switch (t.how) {
            case supply_kind::token_bucket:
                return made_ == t.interval;
            case supply_kind::fixed_window:
                return in_windows() && windows_id() == t.issued_in->id();
            case supply_kind::sliding:
                return slides();
            case supply_kind::in_flight:
                return counts_in_flight();
        }
        return false;
    }

    // True if the bucket stores a number of tokens. Otherwise it stores a time.
    constexpr bool in_windows() const { return made_ < 0; }

    // Returns the ticks per token under which the bucket was charged. 0 if it never was, and below
    // 0 if in_windows().
    constexpr std::int64_t interval() const { return made_; }

    // Returns the tokens that the bucket owed when it was written.
    // Requires: in_windows().
    constexpr std::int64_t owed() const { return ~made_ & windows::most_tokens; }

    // Returns the same bucket on a clock that is `by` ticks ahead.
    // Requires: !counts_in_flight().
    constexpr bucket moved(std::int64_t by) const
    {
        bucket b = *this;
        b.full_at_ += by;
        return b;
    }

    bool operator==(const bucket&) const = default;

private:
    static constexpr int owed_bits = 40;
    // Both ids are above any id of windows.
    static constexpr std::int64_t in_flight_id = std::int64_t{1} << windows::id_bits;
    static constexpr std::int64_t sliding_id = in_flight_id + 1;

    std::int64_t full_at_ = 0;
    // The interval, or 0 if never charged, or, below 0, the complement of the windows' id and the
    // tokens owed. It lets a bucket follow a changed limit without forgetting or inventing tokens.
    std::int64_t made_ = 0;

    constexpr std::int64_t windows_id() const { return ~made_ >> owed_bits; }

    constexpr bool is_counting(std::int64_t id) const { return made_ < 0 && windows_id() == id; }

    static constexpr bucket counting(std::int64_t tokens, std::int64_t full_at, std::int64_t id)
    {
        bucket b;
        b.full_at_ = full_at;
        b.made_ = ~(std::min(tokens, windows::most_tokens) | (id << owed_bits));
        return b;
    }
};

}  // namespace gateway::limit
