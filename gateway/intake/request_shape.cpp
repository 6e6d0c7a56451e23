#include "gateway/intake/request_shape.hpp"

#include "gateway/policy/paths/path_prefix.hpp"

#include <tuple>
#include <utility>

namespace gateway::intake {

namespace {

// Returns the path in two parts: its beginning, as changed, and the rest, which is kept.
std::pair<std::string_view, std::string_view> shaped_path(
    const policy::prefix_change& change, std::string_view path
)
{
    const policy::path_rest rest = policy::past_prefix(path, change.from);
    const bool slash = rest.separated || change.to.empty();
    return {slash ? change.to_and_slash : change.to, rest.text};
}

}  // namespace

void shape(
    const policy::route_shape& shape, const http::request_head& head, http::forward_options& options
)
{
    if (shape.prefix && head.path != "*") {
        std::tie(options.path_start, options.path_rest) = shaped_path(*shape.prefix, head.path);
    }
    if (shape.host == policy::host_source::upstream) {
        options.host = options.default_host;
    } else if (shape.host == policy::host_source::named) {
        options.host = shape.host_name;
    }
    if (shape.request.any()) {
        options.edits = &shape.request;
    }
}

policy::location_subject location_subject(
    const policy::route_shape& shape, const http::request_head& head, std::string_view host
)
{
    policy::location_subject subject{
        .host = host, .path_start = head.path, .path_rest = {}, .query = head.query};
    if (head.path == "*") {
        subject.path_start = "/";
    } else if (shape.prefix) {
        std::tie(subject.path_start, subject.path_rest) = shaped_path(*shape.prefix, head.path);
    }
    return subject;
}

}  // namespace gateway::intake
