// Finds the route of a request. The most specific wins: a scheme over none; then host (the name
// itself, then the longest wildcard, then none), then longest path (an exact path beats every
// prefix), then methods, then more headers; of equals, the one declared first. Immutable; any
// thread may ask.
#pragma once

#include "gateway/policy/host_index.hpp"
#include "gateway/policy/route.hpp"

#include <optional>
#include <span>

namespace gateway::policy {

class matcher {
public:
    matcher() = default;

    explicit matcher(std::span<const route> routes);

    // Index of the route, or nothing: 404.
    std::optional<std::size_t> find(const routing_subject& subject) const;

    // Whether a route names a scheme.
    bool reads_schemes() const { return !of_http_.empty() || !of_https_.empty(); }

private:
    host_index of_http_;
    host_index of_https_;
    host_index of_either_;
};

}  // namespace gateway::policy
