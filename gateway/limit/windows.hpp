// `windows` are the windows of a limit that issues its tokens window by window, in ticks of some
// store.
//
// Windows are equally long and begin at multiples of their length since the zero of their clock, or
// begin as a calendar says, or several are spread evenly over a period. Their clock is the store's,
// shifted. If not all buckets of the limit begin at once, each bucket has an offset of its own.
// Otherwise the clock is shifted to Unix time.
#pragma once

#include "gateway/limit/calendar.hpp"
#include "gateway/limit/pace.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gateway::limit {

// Numbers that stand in windows::append_numbers() for how windows begin: at an offset of each
// bucket's own, at multiples of their length, or several in each period.
inline constexpr std::int64_t offset_windows = 0;
inline constexpr std::int64_t aligned_windows = 1;
inline constexpr std::int64_t spread_windows = 2;

class windows {
public:
    // Makes windows that issue `count` tokens each. `length` is in ticks, with a calendar that of a
    // usual window. Unless `aligned`, each bucket has an offset of its own.
    // Requires: count >= 1, length >= 1.
    windows(
        std::int64_t count,
        std::int64_t length,
        std::int64_t ticks_per_second,
        bool aligned,
        std::shared_ptr<const calendar> dates = nullptr
    );

    // Returns windows that issue one token each, `count` of them in every `period` ticks: a rate at
    // which a token takes no whole number of ticks. They begin on the clock of Unix time.
    // Requires: 1 <= count <= period <= longest_period.
    static windows spread(std::int64_t count, std::int64_t period, std::int64_t ticks_per_second);

    // Longest period of spread windows. It keeps every product here below 2^53, to which a script's
    // numbers are exact.
    static constexpr std::int64_t longest_period = 10'000'000;

    // Bits of id().
    static constexpr int id_bits = 22;

    // Most tokens that a bucket can owe if it stores a number of tokens (bucket.hpp).
    static constexpr std::int64_t most_tokens = (std::int64_t{1} << 40) - 1;

    // Longest time until a bucket is full, in seconds: a hundred years.
    static constexpr std::int64_t longest = std::int64_t{100} * 365 * 24 * 3600;

    // Returns the tokens that each window issues.
    std::int64_t count() const { return count_; }

    // Returns the same windows, each of which issues `count` tokens.
    // Requires: the windows are not spread.
    windows issuing(std::int64_t count) const
    {
        return {count, length_, ticks_per_second_, aligned_, dates_};
    }

    // Returns the most tokens that a bucket can owe here.
    std::int64_t most_owed() const { return most_owed_; }

    // Returns the ticks of a usual window, rounded down for spread windows.
    std::int64_t length() const { return length_; }

    bool aligned() const { return aligned_; }

    // Returns how often windows begin.
    // Requires: no calendar.
    limit::pace pace() const { return {in_period_, period_}; }

    // Returns what to add to the store's time to get the time on the clock of these windows. `hash`
    // is the bucket's and chooses its offset within a window. `to_unix` is what to add to the
    // store's time to get Unix time.
    std::int64_t shift(std::uint64_t hash, std::int64_t to_unix) const
    {
        using wide = unsigned __int128;
        return aligned_ ? to_unix
                        : static_cast<std::int64_t>(
                              (static_cast<wide>(hash) * static_cast<wide>(length_)) >> 64
                          );
    }

    // Returns the number of the window that contains the moment of the shifted clock. Only
    // differences of such numbers mean something.
    std::int64_t index(std::int64_t at) const;

    // Returns the first moment of a window, on the shifted clock.
    std::int64_t begin(std::int64_t index) const;

    // Returns the window that began at this moment or nearest to it. A stored beginning of a window
    // is a little off if the clock has been set since.
    std::int64_t nearest(std::int64_t at) const { return index(at + length_ / 2); }

    // Returns a number that tells these windows from others. A bucket filled under others cannot be
    // read under these.
    std::int64_t id() const { return id_; }

    // Appends the windows' numbers for a script in a store whose clock is Unix time: the count, the
    // length or 0, how they begin, the id. For spread windows: their number in a period, the
    // period, spread_windows, the id. With a calendar there follow the number of beginnings, and
    // the seconds of those that matter to a bucket of `capacity` tokens around `now`, in Unix
    // ticks.
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
    // Without a calendar, `in_period_` windows begin in each period.
    std::int64_t period_;
    std::int64_t in_period_ = 1;
    std::int64_t id_;
    std::int64_t most_owed_;

    std::int64_t calendar_index(std::int64_t at) const;
    std::int64_t calendar_begin(std::int64_t index) const;
};

}  // namespace gateway::limit
