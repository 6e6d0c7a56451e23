// Numbers with one writer, a worker's thread, and any number of readers: no lock, no bus traffic.
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

// Durations in fixed buckets, from 100 us to 10 s and above.
class histogram {
public:
    static constexpr std::array<double, 14> bounds_seconds{
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0,
    };

    void observe(base::duration d)
    {
        std::size_t i = 0;
        while (i < bounds_ns.size() && d.count() > bounds_ns[i]) {
            ++i;
        }
        counts_[i].add();
        sum_ns_.add(static_cast<std::uint64_t>(d.count()));
    }

    std::uint64_t count(std::size_t bucket) const { return counts_[bucket].value(); }  // not cumulative

    double sum_seconds() const { return static_cast<double>(sum_ns_.value()) * 1e-9; }

private:
    static constexpr auto bounds_ns = [] {
        std::array<std::int64_t, bounds_seconds.size()> ns{};
        for (std::size_t i = 0; i < ns.size(); ++i) {
            ns[i] = static_cast<std::int64_t>(bounds_seconds[i] * 1e9 + 0.5);
        }
        return ns;
    }();

    std::array<counter, bounds_seconds.size() + 1> counts_;
    counter sum_ns_;
};

}  // namespace gateway::telemetry
