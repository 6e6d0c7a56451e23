// `span_queue` has spans on their way from workers to the exporter. Workers never wait for room: a
// queue that is full drops their spans, and counts them.
// Thread: any.
#pragma once

#include "gateway/tracing/span.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace gateway::tracing {

class span_queue {
public:
    // Adds all spans of a request, or drops them if there is no room for all.
    void add(std::vector<span> spans);

    // Takes the spans of the oldest requests, max_batch_spans or a few more.
    std::vector<span> take();

    void count_dropped(std::uint64_t spans)
    {
        dropped_.fetch_add(spans, std::memory_order_relaxed);
    }

    std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

private:
    // Guards the next two members.
    std::mutex mutex_;
    // The spans of each request, and the number of all.
    std::deque<std::vector<span>> waiting_;
    std::size_t count_ = 0;
    std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace gateway::tracing
