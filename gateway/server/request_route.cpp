#include "gateway/server/request_route.hpp"

#include "gateway/policy/path.hpp"

namespace gateway::server {

found_route find_route(
    const policy::policy& p,
    const http::request_head& head,
    std::string& host,
    std::string& path_room
)
{
    if (p.reads_hosts) {
        policy::normalise_host(head.authority, host);
    }
    const auto [path, refused_because] = head.path == "*"
                                             ? policy::normalised_path{.path = head.path}
                                             : policy::normalise_path(head.path, path_room);
    if (!refused_because.empty()) {
        return {.status = 400, .detail = refused_because};
    }
    const auto found = p.find_route.find({head.method, host, path});
    if (!found) {
        return {.status = 404, .detail = "no route matches this request"};
    }
    return {.index = *found, .path = path};
}

}  // namespace gateway::server
