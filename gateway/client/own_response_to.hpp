// `own_response_to` is the gateway's own response to a request, but for what only one protocol
// says.
#pragma once

#include "gateway/http/output/own_response.hpp"
#include "gateway/limits/admission.hpp"

namespace gateway::client {

// Ownership: `a` and the texts of `added` must outlive the result.
inline http::own_response own_response_to(
    const limits::admission& a, const http::added_fields& added, bool head_only
)
{
    return {
        .status = a.status,
        .detail = a.detail,
        .added = added,
        .retry_after = a.retry_after,
        .extra = a.extra,
        .fixed = a.fixed,
        .grpc = a.grpc,
        .head_only = head_only,
    };
}

}  // namespace gateway::client
