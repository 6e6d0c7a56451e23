// Finds the route of a request: the most specific wins: host, then longest path (an exact path
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

    path_index of_any_host_;
    std::unordered_map<std::string, path_index, hasher, std::equal_to<>> by_host_;
};

}  // namespace gateway::policy
