// Lists of revoked certificates (CRL, RFC 5280 §5) in PEM form, as OpenSSL's contexts are given
// them. Nothing is read from files here.
#pragma once

#include "gateway/net/tls/certificates.hpp"

#include <openssl/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gateway::net {

struct revocation_facts {
    // The time for which each list holds; one that names no end holds for ever.
    std::vector<validity> holds{};
    // The number of the first list, counted from 1, that none of the authorities has signed; 0:
    // there is none.
    std::size_t foreign = 0;
};

// Nothing: there is no list in the text, or one is damaged.
std::optional<revocation_facts> revocation_facts_of(
    const std::string& lists, const std::string& authorities
);

// Has the context believe no client whose certificate is revoked, or whose authority has no list
// that holds now. Authorities in between are checked if there is a list about them. False: the text
// is damaged, and the context of no use. `must`: a client has to show a certificate.
bool verify_clients(SSL_CTX* context, const std::string& lists, bool must);

}  // namespace gateway::net
