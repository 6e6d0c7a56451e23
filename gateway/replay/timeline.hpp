// `timeline` counts requests over time in a bounded number of equal bins, whose width doubles when
// there are too many. Pure.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/replay/judgement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace gateway::replay {

class timeline {
public:
    // Most bins.
    static constexpr std::size_t most = 240;

    // Number of requests by verdict.
    using counts = std::array<std::uint64_t, 3>;

    // Counts a request that is neither malformed nor left out. Moments do not step back.
    void add(base::duration at, verdict is)
    {
        if (bins_.empty()) {
            begin_ = std::chrono::floor<std::chrono::seconds>(at);
        }
        auto bin = static_cast<std::size_t>((at - begin_) / width_);
        while (bin >= most) {
            widen();
            bin = static_cast<std::size_t>((at - begin_) / width_);
        }
        if (bin >= bins_.size()) {
            bins_.resize(bin + 1);
        }
        ++bins_[bin][static_cast<std::size_t>(is)];
    }

    // Returns the Unix time at which the first bin begins, and the width of each.
    base::duration begin() const { return begin_; }

    base::duration width() const { return width_; }

    const std::vector<counts>& bins() const { return bins_; }

private:
    base::duration begin_{0};
    base::duration width_ = std::chrono::seconds{1};
    std::vector<counts> bins_;

    void widen()
    {
        width_ *= 2;
        for (std::size_t i = 0; i < bins_.size(); ++i) {
            const counts moved = bins_[i];
            counts& to = bins_[i / 2];
            if (i % 2 == 0) {
                to = moved;
            } else {
                for (std::size_t f = 0; f < moved.size(); ++f) {
                    to[f] += moved[f];
                }
            }
        }
        bins_.resize((bins_.size() + 1) / 2);
    }
};

}  // namespace gateway::replay
