// `exemplars` keeps one traced request for each bucket of a histogram, the last one. It has one
// writer, a worker's thread, and any number of readers.
#pragma once

#include "gateway/telemetry/counter.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gateway::telemetry {

// `exemplar` is a request whose trace was recorded.
struct exemplar {
    // The trace's id.
    std::uint64_t trace_high = 0;
    std::uint64_t trace_low = 0;
    base::duration value{0};
    // Unix time at which the value was observed.
    base::duration at{0};
};

class exemplars {
public:
    // Keeps the request in the bucket of its value.
    void note(const exemplar& e)
    {
        slot& s = slots_[histogram::bucket_of(e.value)];
        const std::uint64_t version = s.version;
        // An odd version is being written.
        s.version = version + 1;
        s.trace_high = e.trace_high;
        s.trace_low = e.trace_low;
        s.value = e.value.count();
        s.at = e.at.count();
        s.version = version + 2;
    }

    // Returns nothing if there is none, or if it is being replaced.
    std::optional<exemplar> of_bucket(std::size_t bucket) const
    {
        const slot& s = slots_[bucket];
        const std::uint64_t version = s.version;
        const exemplar e{s.trace_high, s.trace_low, base::duration{s.value}, base::duration{s.at}};
        const bool whole = version % 2 == 0 && version != 0 && s.version == version;
        return whole ? std::optional{e} : std::nullopt;
    }

private:
    // The version is written before and after the rest, in this order on all threads.
    struct slot {
        std::atomic<std::uint64_t> version{0};
        std::atomic<std::uint64_t> trace_high{0};
        std::atomic<std::uint64_t> trace_low{0};
        std::atomic<std::int64_t> value{0};
        std::atomic<std::int64_t> at{0};
    };

    std::array<slot, histogram::buckets> slots_;
};

}  // namespace gateway::telemetry
