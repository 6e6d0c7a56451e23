// `asks_for_websocket` and `grants_websocket` recognize the requests for a WebSocket and the
// responses that grant one (RFC 6455 §4, RFC 9110 §7.8). A connection is never switched to any
// other protocol.
#pragma once

#include "gateway/http/message.hpp"

namespace gateway::http {

// True if the request is a complete opening handshake: HTTP/1.1 GET without a body, Connection with
// "upgrade", Upgrade with "websocket", one key of the right form, one version. The upstream judges
// what the key and the version say. Anything less is an ordinary request, and its Upgrade is not
// forwarded.
bool asks_for_websocket(const request_head& head);

// True if the response is a 101 of HTTP/1.1 that switches to WebSocket and to nothing else.
bool grants_websocket(const response_head& head);

}  // namespace gateway::http
