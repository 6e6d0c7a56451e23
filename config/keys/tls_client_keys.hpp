// `describe_tls_client` describes the keys of TLS to a server of a store or of an upstream: how the
// server is verified, and which certificate the gateway has.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "gateway/net/tls/tls_client.hpp"

#include <string_view>

namespace gateway::config {

// Describes the keys. `server_name` is the documentation of that key.
void describe_tls_client(
    keys& tls, net::tls_client_options& options, std::string_view server_name, const draft& d
);

}  // namespace gateway::config
