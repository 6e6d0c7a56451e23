// The windows of a limit that issues its tokens window by window, in the ticks of some store.
//
// Windows are equally long and begin at multiples of their length since the zero of their clock, or
// begin as a calendar says, or several are spread evenly over a period. Their clock is the store's,
// shifted: for a limit whose buckets do not all begin at once by an offset of each bucket, for
// others to Unix time.
#pragma once

#include "gateway/limit/calendar.hpp"
#include "gateway/limit/pace.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gateway::limit {

class windows {
public:
    // `count`: tokens that each window issues, at least 1. `length`: in ticks, at least 1; with a
    // calendar that of a usual window. `aligned`: false: each bucket has an offset of its own.
    windows(
        std::int64_t count,
        std::int64_t length,
        std::int64_t ticks_per_second,
        bool aligned,
        std::shared_ptr<const calendar> dates = nullptr
    );

    // Windows that each issue one token, `count` of them in every `period` ticks: a rate at which a
    // token takes no whole number of ticks. They begin where Unix time has it. Requires: 1 <= count
    // <= period <= longest_period.
    static windows spread(std::int64_t count, std::int64_t period, std::int64_t ticks_per_second);

    // Keeps every product here below 2^53, to which a script's numbers are exact.
    static constexpr std::int64_t longest_period = 10'000'000;

    // Bits of id().
    static constexpr int id_bits = 22;

    // Most tokens that a bucket of any limit can owe.
    static constexpr std::int64_t most_tokens = (std::int64_t{1} << 40) - 1;

    // The longest time until a bucket is full, in seconds: a hundred years.
    static constexpr std::int64_t longest = std::int64_t{100} * 365 * 24 * 3600;

    // Tokens that each window issues.
    std::int64_t count() const { return count_; }

    // The same windows, not spread, of which each issues so many tokens.
    windows issuing(std::int64_t count) const
    {
        return {count, length_, ticks_per_second_, aligned_, dates_};
    }

    // Most tokens that a bucket can owe here.
    std::int64_t most_owed() const { return most_owed_; }

    // Ticks of a usual window; those of spread ones are rounded down.
    std::int64_t length() const { return length_; }

    bool aligned() const { return aligned_; }

    // How often they begin. Requires: no calendar.
    limit::pace pace() const { return {in_period_, period_}; }

    // What is added to the store's time to see it on the clock of these windows. `hash`: of the
    // bucket, which chooses a part of a window; `to_unix`: what is added to the store's time to
    // make it Unix time.
    std::int64_t shift(std::uint64_t hash, std::int64_t to_unix) const
    {
        using wide = unsigned __int128;
        return aligned_ ? to_unix
                        : static_cast<std::int64_t>(
                              (static_cast<wide>(hash) * static_cast<wide>(length_)) >> 64
                          );
    }

    // The number of the window in which the moment of the shifted clock lies; only differences of
    // such numbers mean something.
    std::int64_t index(std::int64_t at) const;

    // The first moment of a window, on the shifted clock.
    std::int64_t begin(std::int64_t index) const;

    // The window that began at this moment or next to it. What was kept as the beginning of a
    // window is a little off when the clock has been set since.
    std::int64_t nearest(std::int64_t at) const { return index(at + length_ / 2); }

    // A number that tells these windows from others: what others filled cannot be read here.
    std::int64_t id() const { return id_; }

    // Appends, for a script in a store whose clock is Unix time: the count, the length or 0, 1 if
    // they are aligned, the id; with a calendar how many numbers follow, and the seconds with which
    // the windows begin that matter around `now`, in Unix ticks, to a bucket of `capacity` tokens.
    // Of spread windows: how many there are in a period, the period, 2, the id.
    void append_numbers(std::vector<std::int64_t>& to, std::int64_t capacity, std::int64_t now)
        const;

    bool operator==(const windows& other) const;

private:
    std::int64_t count_;
    std::int64_t length_;
    std::int64_t ticks_per_second_;
    bool aligned_;
    // Null: windows are equally long, or spread.
    std::shared_ptr<const calendar> dates_;
    // Without a calendar: so many windows begin in each period.
    std::int64_t period_;
    std::int64_t in_period_ = 1;
    std::int64_t id_;
    std::int64_t most_owed_;

    std::int64_t calendar_index(std::int64_t at) const;
    std::int64_t calendar_begin(std::int64_t index) const;
};

}  // namespace gateway::limit
