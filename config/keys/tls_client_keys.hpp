// The keys of TLS to a server, of a store or of an upstream: how it is known, and who we are there.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "gateway/net/tls/tls_client.hpp"

#include <string_view>

namespace gateway::config {

// `server_name`: what the documentation says of that key.
void describe_tls_client(
    keys& tls, net::tls_client_options& options, std::string_view server_name, const draft& d
);

}  // namespace gateway::config
