// The response head that goes to the client, made from the upstream's.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/output/field_edits.hpp"
#include "gateway/http/output/limit_headers.hpp"

#include <string>
#include <string_view>

namespace gateway::http {

struct response_options {
    bool client_http_1_0 = false;
    // Whether the client keeps the connection; an HTTP/1.0 client must be told that it does.
    bool client_keep_alive = false;
    // Whether this connection ends after the response.
    bool close = false;
    // What is said of limits; it may replace the upstream's X-RateLimit fields.
    limit_statement limits{};
    // The line Date to add if the upstream sent none (RFC 9110 §6.6.1).
    std::string_view date{};
    // The line X-Request-Id; empty: none. The upstream's is never passed on.
    std::string_view request_id{};
    // Of the fields; null: none.
    const field_edits* edits = nullptr;
};

// How the body will be delimited towards the client: a body that ends when the upstream closes is
// sent in chunks where the client can read them, so that it can tell the end from an accident.
framing outbound_framing(const response_head& head, bool client_http_1_0);

// Appends the head, empty line included. A 101 is one that grants a WebSocket.
void append_forwarded_response(
    const response_head& head, const response_options& options, std::string& out
);

// Appends an interim (1xx) head, without X-RateLimit fields if the final one loses them, and
// without what `edits`, which may be null, takes out.
void append_interim_response(
    const response_head& head, bool replace_ratelimit, const field_edits* edits, std::string& out
);

}  // namespace gateway::http
