// Which requests, which limits, which upstream.
#pragma once

#include "gateway/policy/route_shape.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::policy {

// What metrics call the requests that no route matched; so no route has that name.
inline constexpr std::string_view no_route_name = "none";

inline constexpr std::size_t no_upstream = static_cast<std::size_t>(-1);

struct route_match {
    // Lower case, no port, no trailing dot; empty: any host. "*.example.com": any that ends so,
    // with one label or more in front.
    std::string host;
    // A normalised path (path.hpp), which is a prefix by whole segments; empty: any path.
    std::string path;
    // The setting `path_exact`: `path` is the whole path.
    bool exact = false;
    // Case-sensitive; empty: any method, unknown ones included.
    std::vector<std::string> methods;
};

struct route {
    // A label of metrics, and the value of the key part `route`.
    std::string name;

    route_match match;
    // Indices into policy::limits.
    std::vector<std::size_t> limits;
    // Whether a response may correct what one of them charged.
    bool corrects = false;
    // Whether its requests may wait for their tokens.
    bool holds = false;
    // Whether they have places in flight.
    bool counts_places = false;
    // Whether the key of one of them has a claim of a token.
    bool reads_token = false;
    // Index into policy::upstreams, or `no_upstream`: its shape has an answer.
    std::size_t upstream = 0;
    // Whether `shape` changes anything.
    bool shaped = false;
    route_shape shape{};
};

}  // namespace gateway::policy
