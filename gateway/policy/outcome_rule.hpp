// `outcome_rule` states how a response changes the charge of its request.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gateway::policy {

// Statuses as ranges, each with its first and last. Empty: none.
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
    // Responses that keep the charge. Empty: all do.
    status_set charge_on{};
    // Responses that refill the bucket.
    status_set reset_on{};
    // Name, in lower case, of the response header that states what the request really cost. Empty:
    // none.
    std::string settle_header{};
    // Most tokens that it may state. A larger number counts as this.
    std::int64_t settle_max = 1;
    // True if the client gets that header.
    bool keep_settle_header = false;

    // True if a response can change anything.
    bool any() const
    {
        return !charge_on.ranges.empty() || !reset_on.ranges.empty() || !settle_header.empty();
    }

    bool operator==(const outcome_rule&) const = default;
};

}  // namespace gateway::policy
