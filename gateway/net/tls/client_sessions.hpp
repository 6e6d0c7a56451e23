// Bounds the time for which a server resumes a client's session (RFC 8446 §2.2). The time counts
// from the last full handshake, however often the client has come back since. A session ends early
// when the certificate that the client showed has expired.
#pragma once

#include <openssl/types.h>

#include <chrono>

namespace gateway::net {

// Longest time for which a session is resumed. The ticket keys allow it, as the oldest of three is
// between 24 and 36 hours old.
constexpr std::chrono::seconds longest_client_session = std::chrono::hours{24};

// Has clients that come back later than `longest` do a full handshake.
void limit_client_sessions(SSL_CTX* of, std::chrono::seconds longest = longest_client_session);

}  // namespace gateway::net
