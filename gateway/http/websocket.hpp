// Which requests ask for a WebSocket, and which responses grant one (RFC 6455 §4, RFC 9110 §7.8).
// It is the only protocol that a connection is ever switched to.
#pragma once

#include "gateway/http/message.hpp"

namespace gateway::http {

// A whole opening handshake: HTTP/1.1 GET without a body, Connection with "upgrade", Upgrade with
// "websocket", one key of the right form, one version. What the key and the version say is the
// upstream's to judge. Anything less is an ordinary request, whose Upgrade goes no further.
bool asks_for_websocket(const request_head& head);

// A 101 of HTTP/1.1 to WebSocket and to nothing else.
bool grants_websocket(const response_head& head);

}  // namespace gateway::http
