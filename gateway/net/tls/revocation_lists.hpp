// Puts lists of revoked certificates (CRL, RFC 5280 §5) in PEM form into OpenSSL's contexts, and
// reads facts about them. Nothing here reads files.
#pragma once

#include "gateway/net/tls/certificates.hpp"

#include <openssl/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gateway::net {

struct revocation_facts {
    // Time for which each list is valid; a list that names no end is valid for ever.
    std::vector<validity> holds{};
    // Number of the first list, counted from 1, that none of the authorities has signed; 0 if there
    // is none.
    std::size_t foreign = 0;
};

// Returns the facts; nothing if the text holds no list, or one is damaged.
std::optional<revocation_facts> revocation_facts_of(
    const std::string& lists, const std::string& authorities
);

// Has the context refuse clients whose certificate is revoked, or whose authority has no valid
// list. Intermediate authorities are checked if there is a list about them. Without lists nothing
// is checked for revocation. `must`: a client has to show a certificate. False if the text is
// damaged; the context is then of no use.
bool verify_clients(SSL_CTX* context, const std::string& lists, bool must);

}  // namespace gateway::net
