// `calendar` lists the moments at which windows begin if they are not all equally long: months, or
// days with a clock change. The configuration, which knows time zones, makes it. Plain value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gateway::limit {

struct calendar {
    // Seconds since the Unix epoch, ascending, at least two.
    std::vector<std::int64_t> begins;

    // Returns the index of the window that contains the second, or 0 before the first window.
    std::int64_t index(std::int64_t second) const
    {
        return std::upper_bound(begins.begin(), begins.end(), second) - begins.begin();
    }

    // Returns the first second of the window.
    // Requires: 1 <= index <= begins.size().
    std::int64_t begin(std::int64_t index) const
    {
        return begins[static_cast<std::size_t>(index - 1)];
    }

    bool operator==(const calendar&) const = default;
};

}  // namespace gateway::limit
