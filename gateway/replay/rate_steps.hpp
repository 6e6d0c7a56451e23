// `rate_steps` are the rates that a suggestion may name, as a person would write them: whole
// numbers of tokens a day, an hour, a minute or a second, each within a thousandth of the next, or
// one token apart. Pure.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gateway::replay {

struct rate_step {
    std::int64_t count = 1;
    base::duration period = std::chrono::seconds{1};

    // Tokens a second.
    double per_second() const
    {
        return static_cast<double>(count) * 1e9 / static_cast<double>(period.count());
    }

    // The rate as configurations write it, such as 100/m.
    std::string text() const;
};

// Returns all steps from one a day to a million a second, the slowest first.
std::vector<rate_step> rate_steps();

}  // namespace gateway::replay
