// `tls_server` is the server's side of TLS on a listener: it makes the engines of connections from
// the operator's options. It uses OpenSSL, TLS 1.2 and 1.3, without renegotiation, compression and
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

// The protocols of HTTP that a listener may speak.
struct spoken_protocols {
    bool http2 = true;
    bool http1 = true;

    bool operator==(const spoken_protocols&) const = default;
};

enum class client_certificates { none, optional, require };

struct tls_server_options {
    // At least one certificate. The first one is shown to clients that ask for no name, or for one
    // that no certificate has.
    std::vector<server_certificate> certificates{};
    tls_version min_version = tls_version::v1_2;
    // Ciphers of TLS 1.2 in OpenSSL's notation; empty for those with forward secrecy and AEAD.
    std::string ciphers{};
    client_certificates clients = client_certificates::none;
    // The authorities that vouch for clients.
    pem_file client_ca{};
    // Lists of the certificates that they have revoked; empty if none is known.
    pem_file client_crl{};
    // True if upstreams get the client's certificate in header fields (RFC 9440).
    bool forward_client_cert = false;
    // Time from accepting a connection to the end of the handshake.
    base::duration handshake_timeout = std::chrono::seconds{10};
    // Ticket keys that several gateways share; without them tickets are valid in this process only.
    pem_file tickets{};
    // Protocols that clients may choose by ALPN.
    spoken_protocols protocols{};

    bool operator==(const tls_server_options&) const = default;
};

class tls_server {
public:
    // Returns what is wrong with the options, beginning with the key at fault
    // ("certificates[0].key: ..."); nothing if all is well.
    static std::optional<std::string> check(const tls_server_options& options);

    // Makes a server; each worker has its own.
    // Requires: options that check() has accepted.
    static std::shared_ptr<tls_server> make(
        const tls_server_options& options, const ticket_secret& secret
    );

    ~tls_server();
    tls_server(const tls_server&) = delete;
    tls_server& operator=(const tls_server&) = delete;

    // Returns the engine for an accepted connection; it keeps the server alive.
    static std::unique_ptr<tls_engine> accept(const std::shared_ptr<tls_server>& by);

    const tls_server_options& options() const { return options_; }

private:
    struct freer {
        void operator()(SSL_CTX* of) const;
    };

    using context = std::unique_ptr<SSL_CTX, freer>;

    tls_server_options options_;
    ticket_keys tickets_;
    // Fingerprint of the way in which clients are asked for certificates and verified; it is a part
    // of the names of their sessions.
    std::string believed_;
    // Contexts for each set of certificates that some name has, by the certificates' indexes.
    std::map<std::vector<std::size_t>, context> contexts_;
    // Contexts by exact name, and by the part behind the first label of a wildcard.
    std::map<std::string, SSL_CTX*, std::less<>> by_name_;
    std::map<std::string, SSL_CTX*, std::less<>> by_wildcard_;
    SSL_CTX* standard_ = nullptr;

    tls_server(const tls_server_options& options, const ticket_secret& secret);

    // Sets up the contexts. Returns what is wrong; nothing if all is well.
    std::optional<std::string> prepare();
    std::optional<std::string> set_up(SSL_CTX* c) const;
    std::optional<std::string> add_context(const std::vector<std::size_t>& certificates);
    SSL_CTX* context_for(std::string_view name) const;

    friend struct tls_callbacks;
};

}  // namespace gateway::net
