// `matcher` finds the route of a request. The most specific route wins: a scheme over none, then
// host (the name itself, then the longest wildcard, then none), then the longest path (an exact
// path beats every prefix), then methods, then more headers, then more members of the content, then
// a path that minds the case of letters. Among equals, the one declared first wins.
// Thread: any, as it is immutable.
#pragma once

#include "gateway/policy/paths/host_index.hpp"
#include "gateway/policy/route.hpp"

#include <optional>
#include <span>

namespace gateway::policy {

class matcher {
public:
    matcher() = default;

    explicit matcher(std::span<const route> routes);

    // Returns the index of the route, or nothing, which means 404.
    std::optional<std::size_t> find(const routing_subject& subject) const;

    // True if any route names a scheme.
    bool reads_schemes() const { return !of_http_.empty() || !of_https_.empty(); }

private:
    host_index of_http_;
    host_index of_https_;
    host_index of_either_;
};

}  // namespace gateway::policy
