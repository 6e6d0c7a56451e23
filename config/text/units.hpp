// `rate` is a rate as people write it, beside the quantities of base. Pure.
#pragma once

#include "gateway/base/quantity.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::config {

struct rate {
    std::int64_t tokens = 1;
    base::duration period = std::chrono::seconds{1};
    // True if it is per month. `period` is then that of a long month.
    bool monthly = false;

    bool operator==(const rate&) const = default;
};

using base::format_duration;
using base::format_size;
using base::parse_duration;
using base::parse_number;
using base::parse_size;

// Parses "100/m", "10/10s": a number of at least 1, per s, m, h, d, w, mo or any duration above 0.
std::optional<rate> parse_rate(std::string_view text);

// Returns the shortest text that parses to the same rate.
std::string format_rate(const rate& r);

}  // namespace gateway::config
