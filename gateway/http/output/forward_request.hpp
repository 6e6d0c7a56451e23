// The request head that goes upstream. Fields are copied in runs of whole lines from where they
// lie; what belongs to one connection only is left out, what we vouch for is added last.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/output/field_edits.hpp"

#include <string>
#include <string_view>

namespace gateway::http {

struct forward_options {
    // The peer's address, in canonical form.
    std::string_view peer{};
    // Whether the client's connection is TLS.
    bool secure = false;
    // The values of Client-Cert and Client-Cert-Chain (RFC 9440); empty: there is none. What the
    // peer says in such fields is never passed on.
    std::string_view client_cert{};
    std::string_view client_cert_chain{};
    // Whether the peer's forwarding fields are passed on; otherwise they are replaced.
    bool peer_trusted = false;

    // The name of the field that identifies the client, in lower case. This field, too, is replaced
    // if the peer is not trusted.
    std::string_view identity_header{};
    // What classify() says of identity_header.
    field_name identity_field = field_name::other;

    // The host that is sent when an HTTP/1.0 request named none.
    std::string_view default_host{};
    // The gateway's own name in the field Via.
    std::string_view via_name = "gateway";
    // The line X-Request-Id; empty: none.
    std::string_view request_id{};
    // The traceparent instead of one that is malformed.
    std::string_view trace_parent{};

    // The path instead of the request's, in two parts; both empty: as it came.
    std::string_view path_start{};
    std::string_view path_rest{};
    // The Host instead of the request's; empty: as it came.
    std::string_view host{};
    // Of the fields; null: none.
    const field_edits* edits = nullptr;

    // Whether the request line or the Host is another than that which came.
    bool has_own_start() const
    {
        return !path_start.empty() || !path_rest.empty() || !host.empty();
    }
};

// Appends the head, empty line included. Always HTTP/1.1, exactly one Host, one framing; Upgrade
// only to ask for a WebSocket, and for nothing else.
// A head whose max_forwards is 0 must not get here: it ends with us.
void append_forwarded_request(
    const request_head& head, const forward_options& options, std::string& out
);

}  // namespace gateway::http
