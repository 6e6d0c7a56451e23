// `counter`, `gauge` and `histogram` have one writer, a worker's thread, and any number of readers.
// They need no lock and cause no bus traffic.
#pragma once

#include "gateway/base/clock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gateway::telemetry {

class counter {
public:
    void add(std::uint64_t n = 1)
    {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }

    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

class gauge {
public:
    void add(std::int64_t n)
    {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }

    void set(std::int64_t n) { value_.store(n, std::memory_order_relaxed); }

    std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::int64_t> value_{0};
};

// Counts durations in fixed buckets, from 100 us to 10 s and above.
class histogram {
public:
    static constexpr std::array<std::int64_t, 14> bounds_ns{
        100'000,
        250'000,
        500'000,
        1'000'000,
        2'500'000,
        5'000'000,
        10'000'000,
        25'000'000,
        50'000'000,
        100'000'000,
        250'000'000,
        1'000'000'000,
        2'500'000'000,
        10'000'000'000,
    };

    static constexpr auto bounds_seconds = [] {
        std::array<double, bounds_ns.size()> seconds{};
        for (std::size_t i = 0; i < seconds.size(); ++i) {
            seconds[i] = static_cast<double>(bounds_ns[i]) / 1e9;
        }
        return seconds;
    }();

    // Number of buckets, the one past every bound included.
    static constexpr std::size_t buckets = bounds_ns.size() + 1;

    static std::size_t bucket_of(base::duration d)
    {
        std::size_t i = 0;
        while (i < bounds_ns.size() && d.count() > bounds_ns[i]) {
            ++i;
        }
        return i;
    }

    void observe(base::duration d)
    {
        counts_[bucket_of(d)].add();
        sum_ns_.add(static_cast<std::uint64_t>(d.count() > 0 ? d.count() : 0));
    }

    // Returns the count of one bucket alone, not cumulative. The last bucket is past every bound.
    std::uint64_t count(std::size_t bucket) const { return counts_[bucket].value(); }

    double sum_seconds() const { return static_cast<double>(sum_ns_.value()) * 1e-9; }

private:
    std::array<counter, buckets> counts_;
    counter sum_ns_;
};

}  // namespace gateway::telemetry
