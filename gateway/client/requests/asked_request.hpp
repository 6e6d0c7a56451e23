// `read_asked_request` finds out which request another proxy asks about. The proxy sends a
// subrequest whose headers describe it (nginx auth_request, Traefik ForwardAuth, Caddy
// forward_auth), or that request itself (Envoy ext_authz).
#pragma once

#include "gateway/http/message.hpp"

#include <optional>

namespace gateway::client {

// Makes `asked` the head of the request that is asked about. Headers of `head` that describe it are
// believed of trusted peers only, and read as a request line and Host would be. Returns why that
// request is refused: it has two methods, targets or hosts, or one that a listener would refuse.
// Ownership: `asked` views into what `head` views into.
[[nodiscard]] std::optional<http::rejection> read_asked_request(
    const http::request_head& head, bool peer_trusted, http::request_head& asked
);

}  // namespace gateway::client
