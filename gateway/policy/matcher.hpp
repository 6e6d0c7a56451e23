// Finds the route of a request: the most specific wins: host, then longest path (an exact path
// beats every prefix), then methods; of equals, the one declared first. Immutable; any thread may
// ask.
#pragma once

#include "gateway/policy/route.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gateway::policy {

struct routing_subject {
    std::string_view method;
    std::string_view host;  // normalised
    std::string_view path;  // normalised; "*" for OPTIONS *
};

// The path of a match as it is compared: the prefixes "/v1" and "/v1/" are one.
std::string_view compared_path(const route_match& match);

class matcher {
public:
    matcher() = default;

    explicit matcher(std::span<const route> routes);

    // Index of the route, or nothing: 404.
    std::optional<std::size_t> find(const routing_subject& subject) const;

private:
    struct candidate {
        route_match match;
        std::size_t index;
    };

    std::vector<candidate> by_precedence_;  // the first that matches wins
};

}  // namespace gateway::policy
