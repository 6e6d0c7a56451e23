// `tls_client` is the client's side of TLS to one server: it makes the engines of connections,
// checks the server's certificate and shows the gateway's own. It uses OpenSSL, TLS 1.2 or later,
// without renegotiation.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/net/tls/certificates.hpp"
#include "gateway/net/tls/owned.hpp"
#include "gateway/net/tls/tls_engine.hpp"

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>

namespace gateway::net {

struct tls_client_options {
    // Certificates of the authorities that may vouch for the server; empty for the system's.
    pem_file ca;
    // The gateway's own certificate, those that vouch for it, and its key; empty to show none.
    pem_file certificate;
    pem_file key;
    // Name or address that the server's certificate must have; empty for the one that it is reached
    // by.
    std::string server_name;
    // True to verify the server; otherwise whoever answers is taken for the server.
    bool verify = true;

    // True to offer HTTP/2 by ALPN (RFC 9113 §3.2) and nothing else; otherwise nothing is offered.
    bool http2 = false;

    // The OpenSSL context that all clients of these options share, on any thread; see
    // tls_client::prepare().
    std::shared_ptr<SSL_CTX> context{};
    // Edition of the system's certificates that it has, if `ca` is empty.
    std::string system_edition{};

    // True if clients of both trust the same servers and show the same certificate.
    bool operator==(const tls_client_options& o) const
    {
        return ca == o.ca && certificate == o.certificate && key == o.key &&
               server_name == o.server_name && verify == o.verify && http2 == o.http2 &&
               system_edition == o.system_edition;
    }
};

// Thread: one thread only; each worker has one for each server.
class tls_client {
public:
    // Reads what the options name, once for all clients, as the system's certificates take tens of
    // milliseconds. Returns what is wrong, beginning with the key at fault; nothing if all is well.
    static std::optional<std::string> prepare(tls_client_options& options);

    // Makes a client; `host` is the name or address that the server is reached by.
    // Requires: prepared options.
    static std::shared_ptr<tls_client> make(
        const tls_client_options& options, const std::string& host
    );

    // Returns the engine for a new connection to that server; it keeps the client alive. It resumes
    // the last session, if the server wants to, for at most a day after the server last showed its
    // certificate, and not once that has expired.
    static std::unique_ptr<tls_engine> connect(const std::shared_ptr<tls_client>& to);

    // Makes the next handshake a full one. Call it after a failed handshake, as the server may
    // dislike the session.
    void forget_session() { session_.reset(); }

    // Has the handshake of `ssl` trust no server but the expected one, and ask for it by its name
    // unless that is an address, and offer the protocol of the options.
    void expect_server(SSL* ssl) const;

    SSL_CTX* context() const { return context_.get(); }

private:
    std::shared_ptr<SSL_CTX> context_;
    std::string name_;
    bool http2_;
    // The session that the server gave last, for the next connection.
    owned<SSL_SESSION, SSL_SESSION_free> session_;
    // Time at which the server last showed its certificate.
    base::instant shown_{};

    tls_client(std::shared_ptr<SSL_CTX> context, std::string name, bool http2);

    bool session_holds() const;
    static int remember(SSL* ssl, SSL_SESSION* session);
    static std::optional<std::string> set_up(SSL_CTX* c, const tls_client_options& options);
};

}  // namespace gateway::net
