// What the certificate of a client says, once it has been verified.
#pragma once

#include <openssl/types.h>

#include <optional>
#include <string>

namespace gateway::net {

struct client_certificate {
    // SHA-256 of it, in hexadecimal digits.
    std::string fingerprint;
    // As RFC 2253 writes it.
    std::string subject;
    // Its alternative names, separated by commas: DNS names, URIs and mail addresses.
    std::string alternative_names;
    // The values of Client-Cert and Client-Cert-Chain (RFC 9440).
    std::string field;
    std::string chain_field;
};

// Nothing: the client has shown none, or it was not verified.
std::optional<client_certificate> client_certificate_of(SSL* ssl);

}  // namespace gateway::net
