// `client_certificate` holds what a client's certificate states, once it has been verified.
#pragma once

#include <string>

namespace gateway::base {

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

}  // namespace gateway::base
