// How a response changes what its request was charged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gateway::policy {

// Statuses by ranges, first and last; empty: none.
struct status_set {
    std::vector<std::pair<int, int>> ranges{};

    bool contains(int status) const
    {
        return std::any_of(ranges.begin(), ranges.end(), [status](const auto& r) {
            return r.first <= status && status <= r.second;
        });
    }

    bool operator==(const status_set&) const = default;
};

struct outcome_rule {
    // Responses that keep the charge; empty: all do.
    status_set charge_on{};
    // Responses that make the bucket full again.
    status_set reset_on{};
    // The response header that says what the request really cost, in lower case; empty: none.
    std::string settle_header{};
    // The most that it may say; more counts as that.
    std::int64_t settle_max = 1;
    // Whether the client gets that header.
    bool keep_settle_header = false;

    // Whether a response can change anything.
    bool any() const
    {
        return !charge_on.ranges.empty() || !reset_on.ranges.empty() || !settle_header.empty();
    }

    bool operator==(const outcome_rule&) const = default;
};

}  // namespace gateway::policy
