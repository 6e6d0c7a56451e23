// Finds the route of a request: the most specific wins: host (the name itself, then the longest
// wildcard, then none), then longest path (an exact path
// beats every prefix), then methods; of equals, the one declared first. Immutable; any thread may
// ask.
#pragma once

#include "gateway/policy/path_index.hpp"
#include "gateway/policy/route.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gateway::policy {

struct routing_subject {
    std::string_view method;
    // The normalised host.
    std::string_view host;
    // The normalised path; "*" for OPTIONS *.
    std::string_view path;
};

class matcher {
public:
    matcher() = default;

    explicit matcher(std::span<const route> routes);

    // Index of the route, or nothing: 404.
    std::optional<std::size_t> find(const routing_subject& subject) const;

private:
    struct hasher {
        using is_transparent = void;

        std::size_t operator()(std::string_view host) const
        {
            return std::hash<std::string_view>{}(host);
        }
    };

    using hosts = std::unordered_map<std::string, path_index, hasher, std::equal_to<>>;

    path_index of_any_host_;
    hosts by_host_;
    // Of "*.example.com": by ".example.com".
    hosts by_ending_;
    std::size_t longest_ending_ = 0;

    std::optional<std::size_t> find_by_ending(const routing_subject& subject) const;
};

}  // namespace gateway::policy
