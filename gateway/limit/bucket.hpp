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

    constexpr bool never_charged() const { return made_ == 0; }

    // The moment from which it is as good as never seen.
    constexpr std::int64_t full_at() const { return full_at_; }

    constexpr bool is_full(std::int64_t now) const { return full_at_ <= now; }

    // Whether it was charged under this rate, or these windows.
    bool follows(const terms& t) const
    {
        return t.issued_in == nullptr ? made_ == t.interval
                                      : in_windows() && windows_id() == t.issued_in->id();
    }

    // Whether it was charged under a limit with windows.
    constexpr bool in_windows() const { return made_ < 0; }

    // Ticks per token when it was charged; not in windows.
    constexpr std::int64_t interval() const { return made_; }

    // Tokens that it owed when it was written; in windows only.
    constexpr std::int64_t owed() const { return ~made_ & windows::most_tokens; }

    bool operator==(const bucket&) const = default;

private:
    static constexpr int owed_bits = 40;

    std::int64_t full_at_ = 0;
    // The interval; 0: never charged; below: the complement of the windows' id and the tokens owed.
    // It lets a bucket follow a changed limit without forgetting or inventing tokens.
    std::int64_t made_ = 0;

    constexpr std::int64_t windows_id() const { return ~made_ >> owed_bits; }
};

}  // namespace gateway::limit
