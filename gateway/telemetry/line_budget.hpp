// `line_budget` bounds the diagnostic lines in a time, which is a second unless somebody says
// otherwise. Pure: the caller passes the time.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>

namespace gateway::telemetry {

class line_budget {
public:
    void allow(std::uint64_t lines, base::duration in = std::chrono::seconds{1})
    {
        lines_ = lines;
        length_ = in;
    }

    // True if a line may be printed at `now`. Counts the line as suppressed otherwise.
    bool spend(base::instant now)
    {
        if (is_over(now)) {
            window_ = now;
            spent_ = 0;
        }
        if (spent_ >= lines_) {
            ++suppressed_;
            return false;
        }
        ++spent_;
        return true;
    }

    // True if the time for which lines were counted last is over.
    bool is_over(base::instant now) const { return now - window_ >= length_; }

    // Counts lines that were granted but could not be printed.
    void count_lost(std::uint64_t lines = 1) { suppressed_ += lines; }

    // Returns the number of lines suppressed since the last call.
    std::uint64_t take_suppressed()
    {
        const std::uint64_t n = suppressed_;
        suppressed_ = 0;
        return n;
    }

private:
    std::uint64_t lines_ = 0;
    // Length of a window.
    base::duration length_{std::chrono::seconds{1}};

    // Lines spent in this window.
    std::uint64_t spent_ = 0;

    std::uint64_t suppressed_ = 0;

    // Start of this window.
    base::instant window_{};
};

}  // namespace gateway::telemetry
