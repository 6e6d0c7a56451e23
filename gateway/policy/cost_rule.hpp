// `cost_rule` states how many tokens of a limit a request costs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gateway::policy {

struct cost_rule {
    enum class source { fixed, header, query, methods };
    source from = source::fixed;
    // Name of the query parameter, or of the header in lower case.
    std::string name{};
    // Tokens that a request costs if nothing else states its cost; 0: nothing.
    std::int64_t standard = 1;
    // Most tokens that a request may state.
    std::int64_t max = 1;
    // Tokens that requests with these methods cost.
    std::vector<std::pair<std::string, std::int64_t>> methods{};

    bool operator==(const cost_rule&) const = default;
};

}  // namespace gateway::policy
