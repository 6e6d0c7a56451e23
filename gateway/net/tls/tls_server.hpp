// The server's side of TLS on a listener: what the operator says of it, and what engines for its
// connections are made of. By OpenSSL, TLS 1.2 and 1.3, without renegotiation, compression and
// early data.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/net/tls/certificates.hpp"
#include "gateway/net/tls/ticket_keys.hpp"
#include "gateway/net/tls/tls_engine.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::net {

struct server_certificate {
    pem_file certificate;
    pem_file key;

    bool operator==(const server_certificate&) const = default;
};

enum class tls_version { v1_2, v1_3 };

enum class client_certificates { none, optional, require };

struct tls_server_options {
    // At least one. The first is shown to clients that ask for no name, or one that none is for.
    std::vector<server_certificate> certificates{};
    tls_version min_version = tls_version::v1_2;
    // Of TLS 1.2, as OpenSSL writes them; empty: those with forward secrecy and AEAD.
    std::string ciphers{};
    client_certificates clients = client_certificates::none;
    // Who vouches for clients.
    pem_file client_ca{};
    // The certificates that they have revoked; empty: none is known.
    pem_file client_crl{};
    // Whether upstreams are told of a client's certificate (RFC 9440).
    bool forward_client_cert = false;
    // From accepting a connection to the end of the handshake.
    base::duration handshake_timeout = std::chrono::seconds{10};
    // Keys of tickets that several gateways share; without them tickets are this process's.
    pem_file tickets{};

    bool operator==(const tls_server_options&) const = default;
};

class tls_server {
public:
    // What is wrong with the options, with the key at fault in front: "certificates[0].key: ...".
    static std::optional<std::string> check(const tls_server_options& options);

    // Of options that are well. One per worker.
    static std::shared_ptr<tls_server> make(
        const tls_server_options& options, const ticket_secret& secret
    );

    ~tls_server();
    tls_server(const tls_server&) = delete;
    tls_server& operator=(const tls_server&) = delete;

    // For a connection that has been accepted; it keeps the server alive.
    static std::unique_ptr<tls_engine> accept(const std::shared_ptr<tls_server>& by);

    const tls_server_options& options() const { return options_; }

private:
    struct freer {
        void operator()(SSL_CTX* of) const;
    };

    using context = std::unique_ptr<SSL_CTX, freer>;

    tls_server_options options_;
    ticket_keys tickets_;
    // How clients are asked for certificates, and what these are believed by, goes into the name of
    // their sessions.
    std::string believed_;
    // For each set of certificates that some name has, by their indexes.
    std::map<std::vector<std::size_t>, context> contexts_;
    // By exact name, and by what follows the first label of a wildcard.
    std::map<std::string, SSL_CTX*, std::less<>> by_name_;
    std::map<std::string, SSL_CTX*, std::less<>> by_wildcard_;
    SSL_CTX* standard_ = nullptr;

    tls_server(const tls_server_options& options, const ticket_secret& secret);

    // Says what is wrong.
    std::optional<std::string> prepare();
    std::optional<std::string> set_up(SSL_CTX* c) const;
    std::optional<std::string> add_context(const std::vector<std::size_t>& certificates);
    SSL_CTX* context_for(std::string_view name) const;

    friend struct tls_callbacks;
};

}  // namespace gateway::net
