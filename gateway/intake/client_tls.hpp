// `client_tls` holds what TLS says of a client, on a listener that asks for certificates.
#pragma once

#include "gateway/base/client_certificate.hpp"

#include <optional>
#include <string>

namespace gateway::intake {

struct client_tls {
    // The verified certificate; nothing: the client has shown none.
    std::optional<base::client_certificate> certificate;
    // The name that the client asked for; empty: it named none. Requests for another host are
    // misdirected.
    std::string asked_name;
    // True if upstreams get the certificate in Client-Cert.
    bool forwarded = false;
};

}  // namespace gateway::intake
