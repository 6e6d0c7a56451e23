// How many diagnostic lines a second may print. Pure: time comes in with each call.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>

namespace gateway::telemetry {

class line_budget {
public:
    void allow(std::uint64_t lines_per_second) { lines_per_second_ = lines_per_second; }

    // Whether a line may be printed at `now`. If not, it is counted as suppressed.
    bool spend(base::instant now)
    {
        if (now - window_ >= std::chrono::seconds{1}) {
            window_ = now;
            spent_ = 0;
        }
        if (spent_ >= lines_per_second_) {
            ++suppressed_;
            return false;
        }
        ++spent_;
        return true;
    }

    // Lines that were granted but could not be printed.
    void count_lost(std::uint64_t lines = 1) { suppressed_ += lines; }

    // How many lines were suppressed since last asked.
    std::uint64_t take_suppressed()
    {
        const std::uint64_t n = suppressed_;
        suppressed_ = 0;
        return n;
    }

private:
    std::uint64_t lines_per_second_ = 0;

    // Lines spent in this window.
    std::uint64_t spent_ = 0;

    std::uint64_t suppressed_ = 0;

    // When this window started.
    base::instant window_{};
};

}  // namespace gateway::telemetry
