// `append_forwarded_response` makes the response head that goes to the client, from the upstream's.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/output/added_fields.hpp"

#include <string>
#include <string_view>

namespace gateway::http {

struct response_options {
    bool client_http_1_0 = false;
    // True if the client keeps the connection. An HTTP/1.0 client must then get
    // `Connection: keep-alive`.
    bool client_keep_alive = false;
    // True if the client accepts trailers.
    bool client_accepts_trailers = false;
    // True if this connection ends after the response.
    bool close = false;
    added_fields added{};
};

// Returns how the body is delimited towards the client. A body that ends when the upstream closes
// is sent in chunks if the client can read them, so that it can tell the end from an accident.
framing outbound_framing(const response_head& head, bool client_http_1_0);

// Appends the head, empty line included.
// Requires: a 101 is one that grants a WebSocket.
void append_forwarded_response(
    const response_head& head, const response_options& options, std::string& out
);

// Appends an interim (1xx) head, to which nothing of `added` is added. It loses the fields that the
// final head loses.
void append_interim_response(
    const response_head& head, const added_fields& added, std::string& out
);

}  // namespace gateway::http
