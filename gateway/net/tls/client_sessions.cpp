#include "gateway/net/tls/client_sessions.hpp"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstring>
#include <ctime>

namespace gateway::net {

namespace {

// Reads the time of the full handshake, in seconds since 1970, which a ticket carries beside its
// session; false if it carries none. OpenSSL restarts its own count with each new ticket.
bool agreed_at(SSL_SESSION* session, long& at)
{
    void* written = nullptr;
    std::size_t size = 0;
    if (SSL_SESSION_get0_ticket_appdata(session, &written, &size) != 1 || size != sizeof at) {
        return false;
    }
    std::memcpy(&at, written, sizeof at);
    return true;
}

// Returns the time of the handshake, in seconds since the epoch.
long handshake_time(const SSL_SESSION* session)
{
#if OPENSSL_VERSION_NUMBER >= 0x30400000L
    return SSL_SESSION_get_time_ex(session);
#else
    return SSL_SESSION_get_time(session);
#endif
}

// Called before a ticket is made; a result of 0 makes the handshake fail.
int write_ticket(SSL* ssl, void*)
{
    SSL_SESSION* const session = SSL_get_session(ssl);
    long at = 0;
    if (session == nullptr || agreed_at(session, at)) {
        return 1;
    }
    at = handshake_time(session);
    return SSL_SESSION_set1_ticket_appdata(session, &at, sizeof at);
}

bool holds(const SSL* ssl, SSL_SESSION* session)
{
    long at = 0;
    const long longest = SSL_CTX_get_timeout(SSL_get_SSL_CTX(ssl));
    if (!agreed_at(session, at) || std::time(nullptr) - at > longest) {
        return false;
    }
    const X509* const shown = SSL_SESSION_get0_peer(session);
    return shown == nullptr || X509_cmp_current_time(X509_get0_notAfter(shown)) > 0;
}

// The signature is OpenSSL's.
// NOLINTNEXTLINE(readability-function-size)
int read_ticket(SSL* ssl, SSL_SESSION* session, const unsigned char*, std::size_t, int status, void*)
{
    const bool is_read = status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW;
    if (!is_read || !holds(ssl, session)) {
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    }
    // Clients of TLS 1.3 use a ticket once (RFC 8446 §C.4), so that each gets another one. Clients
    // of TLS 1.2 go on with theirs, and would wait for a longer handshake.
    const bool renews = status == SSL_TICKET_SUCCESS_RENEW || SSL_version(ssl) == TLS1_3_VERSION;
    return renews ? SSL_TICKET_RETURN_USE_RENEW : SSL_TICKET_RETURN_USE;
}

}  // namespace

void limit_client_sessions(SSL_CTX* of, std::chrono::seconds longest)
{
    SSL_CTX_set_session_cache_mode(of, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_timeout(of, longest.count());
    SSL_CTX_set_session_ticket_cb(of, write_ticket, read_ticket, nullptr);
}

}  // namespace gateway::net
