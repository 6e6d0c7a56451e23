// The request head that goes upstream. Fields are copied in runs of whole lines from where they
// lie; what belongs to one connection only is left out, what we vouch for is added last.
#pragma once

#include "gateway/http/message.hpp"

#include <string>
#include <string_view>

namespace gateway::http {

struct forward_options {
    std::string_view peer{};             // its address, canonical
    bool peer_trusted = false;           // its forwarding fields are passed on, else replaced
    std::string_view identity_header{};  // lower case; also replaced if the peer is not trusted
    field_name identity_field = field_name::other;  // what classify() says of it
    std::string_view default_host{};                // when an HTTP/1.0 request named none
    std::string_view via_name = "gateway";          // ours in Via
};

// Appends the head, empty line included. Always HTTP/1.1, exactly one Host, one framing; Upgrade
// only to ask for a WebSocket, and for nothing else.
// A head whose max_forwards is 0 must not get here: it ends with us.
void append_forwarded_request(
    const request_head& head, const forward_options& options, std::string& out
);

}  // namespace gateway::http
