#include "gateway/server/request_shape.hpp"

#include "gateway/policy/path_prefix.hpp"

namespace gateway::server {

void shape(
    const policy::route_shape& shape, const http::request_head& head, http::forward_options& options
)
{
    if (shape.prefix) {
        const policy::prefix_change& change = *shape.prefix;
        const policy::path_rest rest = policy::past_prefix(head.path, change.from);
        const bool slash = rest.separated || change.to.empty();
        options.path_start = slash ? change.to_and_slash : change.to;
        options.path_rest = rest.text;
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

}  // namespace gateway::server
