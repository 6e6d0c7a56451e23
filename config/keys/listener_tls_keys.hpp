// `describe_listener_tls` describes `tls` of a listener.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "gateway/net/tls/tls_server.hpp"

namespace gateway::config {

// Describes `tls`. `out` is nothing if the listener's connections are not encrypted.
void describe_listener_tls(
    keys& listener, std::optional<net::tls_server_options>& out, const draft& d
);

}  // namespace gateway::config
