// Responses of the gateway's own: problem details (RFC 9457) with the fields each status wants.
#pragma once

#include "gateway/http/output/field_edits.hpp"
#include "gateway/http/output/fixed_response.hpp"
#include "gateway/http/output/limit_headers.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace gateway::http {

struct own_response {
    // The status: one that the gateway gives, or it becomes 500.
    int status = 500;
    // A sentence of our own, for people: no quotes, no backslashes.
    std::string_view detail{};

    // What is said of limits; a 429 also names the limits that rejected.
    limit_statement limits{};
    // How long to wait before trying again; 0: nothing is said of it.
    base::duration retry_after{0};
    // The line Date, or nothing.
    std::string_view date{};
    // The line X-Request-Id, or nothing.
    std::string_view request_id{};
    // Whole lines to add to the head.
    std::string_view extra{};
    // What the route sets, of which it says what fits; null: nothing.
    const field_edits* edits = nullptr;

    // What the route says instead of an upstream, whose status it is; null: nothing.
    const fixed_response* fixed = nullptr;

    // Whether this connection ends after the response.
    bool close = false;
    // Whether to tell an HTTP/1.0 client that the connection does not end.
    bool keep_alive_1_0 = false;
    // Whether the response is to a HEAD.
    bool head_only = false;
};

// Appends the whole message: problem details, or, with a status below 400, nothing but a head.
// Returns how many bytes of it are content.
std::size_t append_own_response(const own_response& response, std::string& out);

}  // namespace gateway::http
