// What a store keeps for one client under one limit: 16 bytes, whose meaning is for the algebra
// alone (limit/supply.hpp). A store copies it, and asks whether it may be forgotten.
#pragma once

#include "gateway/limit/terms.hpp"

#include <algorithm>
#include <cstdint>

namespace gateway::limit {

class bucket {
public:
    // One that was never charged.
    constexpr bucket() = default;

    // One that is full again at `full_at`, charged under `t`, whose tokens are issued one by one.
    constexpr bucket(const terms& t, std::int64_t full_at) : full_at_(full_at), made_(t.interval) {}

    // One that owed so many tokens when it was written, and is full again at `full_at`, which is
    // when one of the windows begins.
    bucket(const windows& w, std::int64_t full_at, std::int64_t owed)
        : full_at_(full_at), made_(~(owed | (w.id() << owed_bits)))
    {}

    // One that counts requests in flight, whose places do not come back by themselves: those whose
    // number is at least `first`.
    static constexpr bucket in_flight(std::int64_t requests, std::int64_t first = 0)
    {
        return counting(requests, requests > 0 ? INT64_MAX - first : 0, in_flight_id);
    }

    // Only of one that counts requests in flight, and has some.
    constexpr std::int64_t first_place() const { return INT64_MAX - full_at_; }

    constexpr bool counts_in_flight() const { return is_counting(in_flight_id); }

    // One whose tokens come back as its history says, all of them by `full_at`.
    static constexpr bucket sliding(std::int64_t tokens, std::int64_t full_at)
    {
        return counting(tokens, full_at, sliding_id);
    }

    constexpr bool slides() const { return is_counting(sliding_id); }

    constexpr bool never_charged() const { return made_ == 0; }

    // The moment from which it is as good as never seen.
    constexpr std::int64_t full_at() const { return full_at_; }

    constexpr bool is_full(std::int64_t now) const { return full_at_ <= now; }

    // Whether it was charged under this rate, or these windows, or counts as this limit does.
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

    // Whether it keeps a number of tokens, and no time.
    constexpr bool in_windows() const { return made_ < 0; }

    // Ticks per token when it was charged; not in windows.
    constexpr std::int64_t interval() const { return made_; }

    // Tokens that it owed when it was written; only of one that keeps a number of tokens.
    constexpr std::int64_t owed() const { return ~made_ & windows::most_tokens; }

    // The same on a clock that is so much ahead. Not of one that counts requests in flight.
    constexpr bucket moved(std::int64_t by) const
    {
        bucket b = *this;
        b.full_at_ += by;
        return b;
    }

    bool operator==(const bucket&) const = default;

private:
    static constexpr int owed_bits = 40;
    // More than any id of windows.
    static constexpr std::int64_t in_flight_id = std::int64_t{1} << windows::id_bits;
    static constexpr std::int64_t sliding_id = in_flight_id + 1;

    std::int64_t full_at_ = 0;
    // The interval; 0: never charged; below: the complement of the windows' id and the tokens owed.
    // It lets a bucket follow a changed limit without forgetting or inventing tokens.
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
