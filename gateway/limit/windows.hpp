// The windows of a limit that issues its tokens window by window, in the ticks of some store.
//
// Windows are equally long and begin at multiples of their length since the zero of their clock, or
// begin as a calendar says. Their clock is the store's, shifted: for a limit whose buckets do not
// all begin at once by an offset of each bucket, for others to Unix time.
#pragma once

#include "gateway/limit/calendar.hpp"

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

    // Bits of id().
    static constexpr int id_bits = 22;

    // Most tokens that a bucket of any limit can owe.
    static constexpr std::int64_t most_tokens = (std::int64_t{1} << 40) - 1;

    // The longest time until a bucket is full, in seconds: a hundred years.
    static constexpr std::int64_t longest = std::int64_t{100} * 365 * 24 * 3600;

    std::int64_t count() const { return count_; }

    // The same windows, of which each issues so many tokens.
    windows issuing(std::int64_t count) const
    {
        return {count, length_, ticks_per_second_, aligned_, dates_};
    }

    // Most tokens that a bucket can owe here.
    std::int64_t most_owed() const { return most_owed_; }

    std::int64_t length() const { return length_; }

    bool aligned() const { return aligned_; }

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

    // For a script in a store, whose clock is Unix time: the count, the length or 0, whether
    // aligned, the id; with a calendar how many numbers follow, and the seconds with which the
    // windows begin that matter around `now`, in Unix ticks, to a bucket of `capacity` tokens.
    void append_numbers(std::vector<std::int64_t>& to, std::int64_t capacity, std::int64_t now)
        const;

    bool operator==(const windows& other) const;

private:
    std::int64_t count_;
    std::int64_t length_;
    std::int64_t ticks_per_second_;
    bool aligned_;
    // Null: windows are equally long.
    std::shared_ptr<const calendar> dates_;
    std::int64_t id_;
    std::int64_t most_owed_;
};

}  // namespace gateway::limit
