// What TLS told of a client, on a listener that asks for certificates.
#pragma once

#include "gateway/net/tls/client_certificate.hpp"

#include <optional>
#include <string>

namespace gateway::intake {

struct client_tls {
    // Nothing: it has shown none.
    std::optional<net::client_certificate> certificate;
    // The name that it asked for: requests for another host are misdirected. Empty: it named none.
    std::string asked_name;
    // Whether upstreams are told of the certificate.
    bool forwarded = false;
};

}  // namespace gateway::intake
