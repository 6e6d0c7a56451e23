// `shape` applies a route's changes to a request. Pure.
#pragma once

#include "gateway/http/output/forward_request.hpp"
#include "gateway/policy/route_shape.hpp"

namespace gateway::intake {

// Fills in the changes of the shape to the path and host of `head`; `options` has the rest. The
// texts are the shape's, the head's, or those that `options` had.
void shape(
    const policy::route_shape& shape, const http::request_head& head, http::forward_options& options
);

// Returns the parts of the request that a redirect may use. The path is as the shape leaves it.
policy::location_subject location_subject(
    const policy::route_shape& shape, const http::request_head& head, std::string_view host
);

}  // namespace gateway::intake
