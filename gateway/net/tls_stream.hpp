// The client's side of TLS on a connection that somebody else drives: bytes of the peer go in, text
// comes out, and what is to be sent is fetched. By OpenSSL, TLS 1.2 or later. Pure but for the
// system's certificates, which it reads if no others are given.
#pragma once

#include "gateway/net/certificates.hpp"

#include <openssl/types.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gateway::net {

struct tls_options {
    // Certificates of those who may vouch for the server; empty: the system's.
    pem_file ca;
    // Who we are: our certificate, those that vouch for it, and its key; empty: nobody.
    pem_file certificate;
    pem_file key;
    // The name or address that the server's certificate must have; empty: that it is reached by.
    std::string server_name;
    // Off: whoever answers is believed to be the server.
    bool verify = true;

    // What all streams of these options share; see tls_stream::prepare().
    std::shared_ptr<SSL_CTX> context{};

    bool operator==(const tls_options& o) const
    {
        return ca == o.ca && certificate == o.certificate && key == o.key &&
               server_name == o.server_name && verify == o.verify;
    }
};

class tls_stream {
public:
    // Reads what the options name, once for all streams: the system's certificates take tens of
    // milliseconds. Or says what is wrong, with the key at fault in front.
    static std::optional<std::string> prepare(tls_options& options);

    // Of options that are prepared; `host` is the name or address that the server is reached by.
    tls_stream(const tls_options& options, const std::string& host);

    // Text for the server, which leaves when it has proved who it is.
    void send(std::string_view text);

    // Bytes of the server; the text in them is appended. False: this is no TLS, or not by the
    // server that was meant, and detail() says why.
    [[nodiscard]] bool receive(std::span<const char> bytes, std::string& text);

    // What is to be sent to the server now, handed over.
    std::string take_output();

    const std::string& detail() const { return detail_; }

private:
    struct freer {
        void operator()(SSL* of) const;
    };

    std::unique_ptr<SSL, freer> ssl_;
    // Owned by ssl_.
    BIO* from_server_ = nullptr;
    BIO* to_server_ = nullptr;
    // Text that waits for the end of the handshake.
    std::string waiting_;
    std::string detail_;

    bool shake_hands();
    bool fail();
};

}  // namespace gateway::net
