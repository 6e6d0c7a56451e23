// What another proxy asks about: the request that it has, told in headers of the request it sends
// us (nginx auth_request, Traefik ForwardAuth, Caddy forward_auth), or that request itself (Envoy
// ext_authz).
#pragma once

#include "gateway/http/message.hpp"

#include <string_view>

namespace gateway::server {

// Makes `asked` the head of the request that is asked about. What `head` says of it in headers is
// believed of trusted peers only. Returns why it is refused: it says two things, or what is no
// method or target; empty: it is not. `asked` views into what `head` views into.
[[nodiscard]] std::string_view read_asked_request(
    const http::request_head& head, bool peer_trusted, http::request_head& asked
);

}  // namespace gateway::server
