// `recent_top` finds the buckets that were counted most often in the last ten seconds, from what
// heavy_hitters has counted since the process began. Pure, and bounded: it keeps a hash and a count
// of each bucket for each second.
#pragma once

#include "gateway/base/hash.hpp"
#include "gateway/limits/reports/heavy_hitters.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace gateway::admin {

class recent_top {
public:
    // Number of seconds that are compared.
    static constexpr std::size_t window = 10;

    struct bucket {
        // The bytes of identity::bucket_name, or those that stand for a digest, as in
        // heavy_hitters::hitter.
        std::string name{};
        bool is_digest = false;
        // Lower bound of how often it was counted in the window.
        std::uint64_t count = 0;
    };

    // Adds what all workers have counted up to the end of a second.
    void add(const std::vector<limits::heavy_hitters::hitter>& merged);

    // Returns the buckets that were counted in the window, most often counted first.
    const std::vector<bucket>& all() const { return all_; }

private:
    using counts = std::unordered_map<base::hash128, std::uint64_t, base::hash128_hash>;

    // The oldest second comes first. Before the process began nothing was counted.
    std::deque<counts> seconds_ = std::deque<counts>(1);
    std::vector<bucket> all_{};
};

}  // namespace gateway::admin
