// What another proxy asks about: the request that it has, told in headers of the request it sends
// us (nginx auth_request, Traefik ForwardAuth, Caddy forward_auth), or that request itself (Envoy
// ext_authz).
#pragma once

#include "gateway/http/message.hpp"

#include <optional>

namespace gateway::client {

// Makes `asked` the head of the request that is asked about. What `head` says of it in headers is
// believed of trusted peers only, and read as a request line and Host would be. Returns why it is
// refused: it names two methods, targets or hosts, or one that a listener would refuse. `asked`
// views into what `head` views into.
[[nodiscard]] std::optional<http::rejection> read_asked_request(
    const http::request_head& head, bool peer_trusted, http::request_head& asked
);

}  // namespace gateway::client
