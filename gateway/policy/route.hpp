// Which requests, which limits, which upstream.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::policy {

// What metrics call the requests that no route matched; so no route has that name.
inline constexpr std::string_view no_route_name = "none";

struct route_match {
    std::string host;    // lower case, no port, no trailing dot; empty = any
    std::string path;    // normalised (path.hpp); a prefix by whole segments; empty = any
    bool exact = false;  // `path_exact`: the whole path
    std::vector<std::string> methods;  // case-sensitive; empty = any, unknown ones included
};

struct route {
    std::string name;  // label of metrics and value of the key part `route`
    route_match match;
    std::vector<std::size_t> limits;  // indices into policy::limits
    std::size_t upstream = 0;         // index into policy::upstreams
};

}  // namespace gateway::policy
