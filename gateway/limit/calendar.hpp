// The moments at which windows begin that are not all equally long: months, or days with a clock
// change. Plain value, sorted, made by the configuration, which knows time zones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gateway::limit {

struct calendar {
    // Seconds since the Unix epoch, ascending; at least two.
    std::vector<std::int64_t> begins;

    // Of the window in which the second lies. 0: before the first beginning.
    std::int64_t index(std::int64_t second) const
    {
        return std::upper_bound(begins.begin(), begins.end(), second) - begins.begin();
    }

    // The second with which the window begins. Requires: 1 <= index <= begins.size().
    std::int64_t begin(std::int64_t index) const
    {
        return begins[static_cast<std::size_t>(index - 1)];
    }

    bool operator==(const calendar&) const = default;
};

}  // namespace gateway::limit
