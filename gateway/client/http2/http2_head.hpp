// `read_http2_head` reads the head of a request that has come over HTTP/2, as if it had come over
// HTTP/1.1.
#pragma once

#include "gateway/base/uuid.hpp"
#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"
#include "gateway/http2/request_text.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::client {

// Returns a key for the handshake of a WebSocket (RFC 6455 §4.1): 16 bytes in base64. Nobody but
// the server looks at them, so that any will do.
std::string make_websocket_key(const base::uuid_text& id);

// Reads `text` into `out`, whose slices are of the text. `last`: no content follows. `key` is for a
// handshake, should this be one. Returns what is wrong, with a status of 0 if the stream must be
// reset; nothing if the head is valid.
std::optional<http::rejection> read_http2_head(
    http2::request_text& text,
    bool last,
    const http::options& bounds,
    std::string_view key,
    http::request_head& out
);

}  // namespace gateway::client
