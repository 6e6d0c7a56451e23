// `read_http2_head` reads the head of a request that has come over HTTP/2, as if it had come over
// HTTP/1.1.
#pragma once

#include "gateway/client/id_source.hpp"
#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"
#include "gateway/http2/request_text.hpp"

#include <optional>

namespace gateway::client {

// Reads `text` into `out`, whose slices are of the text. `last`: no content follows. Returns what
// is wrong, with a status of 0 if the stream must be reset; nothing if the head is valid.
std::optional<http::rejection> read_http2_head(
    http2::request_text& text,
    bool last,
    const http::options& bounds,
    id_source& ids,
    base::instant now,
    http::request_head& out
);

}  // namespace gateway::client
