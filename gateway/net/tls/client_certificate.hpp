// Reads the contents of a client's certificate that has been verified.
#pragma once

#include <openssl/types.h>

#include <optional>
#include <string>

namespace gateway::net {

struct client_certificate {
    // SHA-256 of the certificate, in hexadecimal digits.
    std::string fingerprint;
    // Subject in the form of RFC 2253.
    std::string subject;
    // Alternative names, separated by commas: DNS names, URIs and mail addresses. A backslash
    // stands before each comma or backslash within a name.
    std::string alternative_names;
    // Values of Client-Cert and Client-Cert-Chain (RFC 9440); empty if they are not wanted.
    std::string field;
    std::string chain_field;
};

// Returns the client's certificate; nothing if it has shown none or was not verified. The two
// fields, which are as long as all its certificates, are filled only if `with_fields`.
std::optional<client_certificate> client_certificate_of(SSL* ssl, bool with_fields);

}  // namespace gateway::net
