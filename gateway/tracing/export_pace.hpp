// `export_pace` says how long the exporter waits between batches of spans, and `parse_retry_after`
// what a collector asks of it. Pure.
#pragma once

#include "gateway/tracing/options.hpp"

#include <algorithm>
#include <string_view>

namespace gateway::tracing {

class export_pace {
public:
    // Returns the pause after the collector has taken a batch.
    base::duration taken()
    {
        longest_ = export_interval;
        return export_interval;
    }

    // Returns the pause after it has not. Each is at most twice as long as the one before, and at
    // least half of that, so that many gateways do not come back together. `wish` is the wait that
    // the collector asks for, or 0; `chance` is a random number between 0 and 1.
    base::duration failed(base::duration wish, double chance)
    {
        longest_ = std::min(2 * longest_, longest_export_pause);
        const auto random = std::chrono::duration_cast<base::duration>(longest_ / 2 * chance);
        return std::max(longest_ / 2 + random, std::min(wish, longest_wished_pause));
    }

private:
    base::duration longest_ = export_interval;
};

// Returns the wait in a value of Retry-After (RFC 9110 §10.2.3): seconds or a date. 0 if it is past
// or malformed.
base::duration parse_retry_after(std::string_view value, base::duration unix_now);

}  // namespace gateway::tracing
