// `append_forwarded_request` makes the request head that goes upstream. It copies fields in runs of
// whole lines from where they lie, leaves out those that belong to one connection only, and adds
// last those that the gateway vouches for.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/output/field_edits.hpp"

#include <string>
#include <string_view>

namespace gateway::http {

struct forward_options {
    // The peer's address, in canonical form.
    std::string_view peer{};
    // True if the client's connection is TLS.
    bool secure = false;
    // The values of Client-Cert and Client-Cert-Chain (RFC 9440), or empty if there is none. The
    // peer's own fields of these names are never passed on.
    std::string_view client_cert{};
    std::string_view client_cert_chain{};
    // True if the peer's forwarding fields are passed on. Otherwise they are replaced.
    bool peer_trusted = false;

    // The name of the field that identifies the client, in lower case. This field, too, is not
    // passed on if the peer is not trusted.
    std::string_view identity_header{};
    // The result of classify() for `identity_header`.
    field_name identity_field = field_name::other;

    // The host to send if an HTTP/1.0 request names none.
    std::string_view default_host{};
    // The gateway's own name in the field Via.
    std::string_view via_name = "gateway";
    // True if the server is asked for a response that is not coded, whatever the request accepts.
    bool identity_coding = false;
    // The value of X-Request-Id, or empty for none.
    std::string_view request_id{};
    // The traceparent to send instead of the request's, or empty to keep that.
    // Requires: it is not empty if the request's is malformed.
    std::string_view trace_parent{};

    // The path to send instead of the request's, in two parts. Both empty: the path stays as it is.
    std::string_view path_start{};
    std::string_view path_rest{};
    // The Host to send instead of the request's. Empty: it stays as it is.
    std::string_view host{};
    // Changes to the fields, or null for none.
    const field_edits* edits = nullptr;

    // True if the request line or the Host differs from the received one.
    bool has_own_start() const
    {
        return !path_start.empty() || !path_rest.empty() || !host.empty();
    }
};

// Appends the head, empty line included. It is always HTTP/1.1, with exactly one Host and one
// framing. It has Upgrade only to ask for a WebSocket, TE only if the client accepts trailers, and
// Trailer only if trailers may pass.
// Requires: head.max_forwards is not 0, as such a request ends at the gateway.
void append_forwarded_request(
    const request_head& head, const forward_options& options, std::string& out
);

}  // namespace gateway::http
