// `cost_rule` states how many tokens of a limit a request costs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gateway::policy {

// Most tokens that one request may cost.
inline constexpr std::int64_t most_cost = 1'000'000'000'000;

// Returns the cost of bytes: a token for each `per_token` of them that are begun, at most `most`.
// Requires: per_token > 0, most >= 0.
constexpr std::int64_t cost_of_bytes(std::uint64_t bytes, std::int64_t per_token, std::int64_t most)
{
    const auto each = static_cast<std::uint64_t>(per_token);
    const std::uint64_t begun = bytes / each + (bytes % each == 0 ? 0 : 1);
    return static_cast<std::int64_t>(std::min(begun, static_cast<std::uint64_t>(most)));
}

// `content_cost` is a cost that depends on the request's content.
struct content_cost {
    // Path of the member that states the cost; empty: the number of bytes does.
    std::string path{};
    // Index of the path in policy::request_paths. Set by policy::finish().
    std::size_t index = 0;
    // Bytes that cost one token, if there is no path.
    std::int64_t bytes_per_token = 1;
    // Tokens if the member is absent, or until the number of bytes is known.
    std::int64_t standard = 1;
    // Most tokens that the member may state, or that bytes cost.
    std::int64_t max = 1;

    // Returns the cost of so many bytes.
    // Requires: there is no path.
    std::int64_t tokens_for(std::uint64_t bytes) const
    {
        return cost_of_bytes(bytes, bytes_per_token, max);
    }

    bool operator==(const content_cost&) const = default;
};

struct cost_rule {
    enum class source { fixed, header, query, methods, content };
    source from = source::fixed;
    // Name of the query parameter, or of the header in lower case.
    std::string name{};
    // Tokens that a request costs if nothing else states its cost; 0: nothing.
    std::int64_t standard = 1;
    // Most tokens that a request may state.
    std::int64_t max = 1;
    // Tokens that requests with these methods cost.
    std::vector<std::pair<std::string, std::int64_t>> methods{};
    // The costs that are added up, with source::content.
    std::vector<content_cost> parts{};
    // True if a cost that no bucket could hold is charged as a full bucket. Otherwise such a
    // request is always rejected.
    bool caps = false;

    // True if the number of bytes of the content counts, which may be known only at its end.
    bool counts_bytes() const
    {
        return std::any_of(parts.begin(), parts.end(), [](const content_cost& part) {
            return part.path.empty();
        });
    }

    bool operator==(const cost_rule&) const = default;
};

}  // namespace gateway::policy
