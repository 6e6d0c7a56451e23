// Where a request belongs: its host and path as matching and keys spell them, and its route. Pure.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/policy/policy.hpp"

#include <string>
#include <string_view>

namespace gateway::intake {

struct found_route {
    // 0: there is a route; else what the request is refused with.
    int status = 0;
    std::string_view detail{};
    // Of policy::routes.
    std::size_t index = 0;
    // The normalised path, in lower case if the route ignores case; in `path_room` or the head.
    std::string_view path{};
};

// How a request came.
struct arrival {
    // Whether the connection is TLS.
    bool secure = false;
    bool peer_trusted = false;
};

// Whether the request's scheme is https: a trusted peer's X-Forwarded-Proto says so, or else the
// connection.
bool is_https(const http::request_head& head, const arrival& by);

// `host` becomes the normalised host, if any route or key asks for it.
found_route find_route(
    const policy::policy& p,
    const http::request_head& head,
    const arrival& by,
    std::string& host,
    std::string& path_room
);

}  // namespace gateway::intake
