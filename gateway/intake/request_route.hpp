// `find_route` finds the route of a request, and its host and path as matching and keys spell them.
// Pure.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/policy/policy.hpp"

#include <string>
#include <string_view>

namespace gateway::intake {

struct found_route {
    // Status that the request is refused with; 0: there is a route.
    int status = 0;
    std::string_view detail{};
    // Index in policy::routes.
    std::size_t index = 0;
    // The normalized path, in lower case if the route ignores case. It lies in `path_room` or the
    // head.
    std::string_view path{};
};

// `arrival` says how a request came.
struct arrival {
    // True if the connection is TLS.
    bool secure = false;
    bool peer_trusted = false;
};

// True if the request's scheme is https, by a trusted peer's X-Forwarded-Proto, or else by the
// connection.
bool is_https(const http::request_head& head, const arrival& by);

// Sets `host` to the normalized host, if a route, plan or key depends on it.
found_route find_route(
    const policy::policy& p,
    const http::request_head& head,
    const arrival& by,
    std::string& host,
    std::string& path_room
);

}  // namespace gateway::intake
