// `sampling` says which requests are recorded. Plain values.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>
#include <string>

namespace gateway::tracing {

struct sampling {
    // Parts of a million of the traces that begin here.
    static constexpr std::uint32_t all = 1'000'000;

    // True if there is a collector. Otherwise nothing is recorded, and no trace begins here.
    bool on = false;
    std::uint32_t share = all / 100;
    // True if requests that limits refuse, and those that fail, are recorded in any case.
    bool keep_rejected = false;
    bool keep_errors = false;

    bool operator==(const sampling&) const = default;
};

// Most spans that wait to be exported, beside a batch that the collector has not taken yet. A span
// has about 1 KiB.
inline constexpr std::size_t max_queued_spans = 8'192;
// Number of spans with which a request to the collector is full. Those of one request stay
// together.
inline constexpr std::size_t max_batch_spans = 512;
// Time between two looks at the queue.
inline constexpr base::duration export_interval = std::chrono::milliseconds{500};
// Longest time for a request to the collector, and for the last spans at the end of the process.
inline constexpr base::duration export_timeout = std::chrono::seconds{5};
inline constexpr base::duration last_export_timeout = std::chrono::seconds{2};
// Longest pause after a failure, unless the collector asks for a longer one; see export_pace.
inline constexpr base::duration longest_export_pause = std::chrono::seconds{30};
// Longest pause that a collector can ask for.
inline constexpr base::duration longest_wished_pause = std::chrono::minutes{5};
// Longest time from the first to the last attempt to deliver a batch.
inline constexpr base::duration longest_delivery = std::chrono::minutes{1};
// Most bytes of a text in an attribute. The rest is cut off.
inline constexpr std::size_t max_attribute_bytes = 512;

}  // namespace gateway::tracing
