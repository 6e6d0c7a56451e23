// How many tokens of a limit a request costs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gateway::policy {

struct cost_rule {
    enum class source { fixed, header, query, methods };
    source from = source::fixed;
    // Of the header, in lower case, or query parameter.
    std::string name{};
    // What every request costs, or one that does not say; 0: nothing.
    std::int64_t standard = 1;
    // The most that a request may say.
    std::int64_t max = 1;
    // What requests of these methods cost.
    std::vector<std::pair<std::string, std::int64_t>> methods{};

    bool operator==(const cost_rule&) const = default;
};

}  // namespace gateway::policy
