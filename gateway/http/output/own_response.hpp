// `own_response` is a response of the gateway's own: problem details (RFC 9457) or another error
// (error_body.hpp) with the fields that its status needs, or what gRPC has in their place.
#pragma once

#include "gateway/http/grpc/grpc_status.hpp"
#include "gateway/http/output/added_fields.hpp"
#include "gateway/http/output/fixed_response.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::http {

struct own_response {
    // The status. One that the gateway never gives becomes 500.
    int status = 500;
    // A sentence for people, written by the gateway, without quotes and backslashes.
    std::string_view detail{};

    // The fields of every response. A 429 also names the limits that rejected. Only those of the
    // route's changes are written that fit the response.
    added_fields added{};
    // Time to wait before trying again; 0: it is not reported.
    base::duration retry_after{0};
    // A field that this response needs, such as Location.
    named_value extra{};

    // The route's answer instead of an upstream's, or null. Its status is then used, not `status`.
    const fixed_response* fixed = nullptr;

    // Code that a client of gRPC gets, in a head with status 200 and without content, whatever
    // `status` and `fixed` are. Nothing: the response is HTTP's.
    std::optional<grpc_status> grpc{};

    // True if this connection ends after the response.
    bool close = false;
    // True if an HTTP/1.0 client must get `Connection: keep-alive`.
    bool keep_alive_1_0 = false;
    // True if the response is to a HEAD.
    bool head_only = false;
};

// Appends the whole message: the outcome of a call of gRPC, the fixed response, an error as problem
// details or in the form of the route, or only a head if the status is below 400. Returns the
// number of its bytes that are content.
std::size_t append_own_response(const own_response& response, std::string& out);

}  // namespace gateway::http
