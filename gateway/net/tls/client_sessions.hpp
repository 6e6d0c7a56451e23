// For how long a server goes on with what it once agreed on with a client (RFC 8446 §2.2): until so
// long after hands were last shaken in full, however often the client has come back meanwhile, and
// not when the certificate that it showed then has expired.
#pragma once

#include <openssl/types.h>

#include <chrono>

namespace gateway::net {

// The oldest of three ticket keys is between 24 and 36 hours old.
constexpr std::chrono::seconds longest_client_session = std::chrono::hours{24};

// Who comes back later shakes hands in full.
void limit_client_sessions(SSL_CTX* of, std::chrono::seconds longest = longest_client_session);

}  // namespace gateway::net
