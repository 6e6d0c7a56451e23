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
    // Its alternative names, separated by commas: DNS names, URIs and mail addresses. A comma or a
    // backslash within a name has a backslash in front.
    std::string alternative_names;
    // The values of Client-Cert and Client-Cert-Chain (RFC 9440), if they are to be told.
    std::string field;
    std::string chain_field;
};

// Nothing: the client has shown none, or it was not verified. The fields, which are as long as all
// its certificates, only if they are to be told.
std::optional<client_certificate> client_certificate_of(SSL* ssl, bool with_fields);

}  // namespace gateway::net
