// The client's side of TLS to one server: how the server is known, who we are there, and what
// engines for connections to it are made of. By OpenSSL, TLS 1.2 or later, without renegotiation.
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
    // Certificates of those who may vouch for the server; empty: the system's.
    pem_file ca;
    // Who we are: our certificate, those that vouch for it, and its key; empty: nobody.
    pem_file certificate;
    pem_file key;
    // The name or address that the server's certificate must have; empty: that it is reached by.
    std::string server_name;
    // Off: whoever answers is believed to be the server.
    bool verify = true;

    // What all clients of these options share, on any thread; see tls_client::prepare().
    std::shared_ptr<SSL_CTX> context{};
    // Which certificates of the system's it has, if `ca` is empty.
    std::string system_edition{};

    // Whether clients of both believe the same servers and show the same.
    bool operator==(const tls_client_options& o) const
    {
        return ca == o.ca && certificate == o.certificate && key == o.key &&
               server_name == o.server_name && verify == o.verify &&
               system_edition == o.system_edition;
    }
};

// One per worker and server; one thread.
class tls_client {
public:
    // Reads what the options name, once for all clients: the system's certificates take tens of
    // milliseconds. Or says what is wrong, with the key at fault in front.
    static std::optional<std::string> prepare(tls_client_options& options);

    // Of options that are prepared; `host` is the name or address that the server is reached by.
    static std::shared_ptr<tls_client> make(
        const tls_client_options& options, const std::string& host
    );

    // For a new connection to that server; it keeps the client alive. It goes on with the last
    // session, if the server wants to; but for a day at most after the server last showed its
    // certificate, and not when that has expired.
    static std::unique_ptr<tls_engine> connect(const std::shared_ptr<tls_client>& to);

    // A handshake did not come to its end: the server may dislike the session, so the next one is
    // whole.
    void forget_session() { session_.reset(); }

    // Has the handshake of `ssl` ask for the server by its name, and believe no other.
    void expect_server(SSL* ssl) const;

    SSL_CTX* context() const { return context_.get(); }

private:
    std::shared_ptr<SSL_CTX> context_;
    std::string name_;
    // What the server has given last to begin the next connection with.
    owned<SSL_SESSION, SSL_SESSION_free> session_;
    // When the server last showed its certificate.
    base::instant shown_{};

    tls_client(std::shared_ptr<SSL_CTX> context, std::string name);

    bool session_holds() const;
    static int remember(SSL* ssl, SSL_SESSION* session);
    static std::optional<std::string> set_up(SSL_CTX* c, const tls_client_options& options);
};

}  // namespace gateway::net
