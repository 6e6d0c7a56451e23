#include "gateway/intake/request_route.hpp"

#include "gateway/base/text.hpp"
#include "gateway/policy/path.hpp"
#include "gateway/policy/path_case.hpp"

namespace gateway::intake {

namespace {

bool is_one_of(std::string_view text, std::string_view a, std::string_view b)
{
    return base::equal_ignoring_case(text, a) || base::equal_ignoring_case(text, b);
}

}  // namespace

// Counts wss as https and ws as http, as some proxies send them for the handshakes of WebSockets.
// Any other value counts as none, and so do two values.
bool is_https(const http::request_head& head, const arrival& by)
{
    std::string_view said;
    std::size_t times = 0;
    for (const http::field& f : by.peer_trusted ? head.fields : std::span<const http::field>{}) {
        if (f.id == http::field_name::x_forwarded_proto) {
            said = f.value;
            ++times;
        }
    }
    if (times == 1 && is_one_of(said, "https", "wss")) {
        return true;
    }
    return by.secure && !(times == 1 && is_one_of(said, "http", "ws"));
}

found_route find_route(
    const policy::policy& p,
    const http::request_head& head,
    const arrival& by,
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
    const auto found = p.find_route.find({
        .method = head.method,
        .host = host,
        .path = path,
        .secure = p.find_route.reads_schemes() && is_https(head, by),
        .fields = head.fields,
    });
    if (!found) {
        return {.status = 404, .detail = "no route matches this request"};
    }
    if (p.routes[*found].match.ignore_case) {
        path_room.resize(path.size());  // The path may lie there.
        return {.index = *found, .path = policy::fold_case(path, path_room)};
    }
    return {.index = *found, .path = path};
}

}  // namespace gateway::intake
