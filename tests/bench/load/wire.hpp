// What a connection's socket carries: text as it is, or by TLS. Non-blocking; what cannot be done
// ends the program.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace bench {

// Of all connections of one side; null: they are plain.
using tls_settings = std::shared_ptr<SSL_CTX>;

// Of a client that believes whoever answers.
tls_settings client_settings();
// Of a server with that key and certificate, in one file.
tls_settings server_settings(const std::string& pem);

class wire {
public:
    wire() = default;
    // A client goes on with `session` if it is not null.
    wire(int fd, const tls_settings& tls, SSL_SESSION* session = nullptr);

    [[nodiscard]] bool open() const { return fd_ >= 0; }

    [[nodiscard]] int fd() const { return fd_; }

    enum class hands { shaken, being_shaken, refused };

    // Goes on with the handshake. Plain connections need none.
    hands shake();

    // As recv(): 0 is the end, -1 nothing for now.
    ssize_t receive(char* into, std::size_t size);
    // As send(): -1 is nothing for now. A connection that has broken takes all: receive() tells.
    ssize_t send(std::string_view text);

    [[nodiscard]] bool resumed() const;
    // To go on with, once text has been received; null: there is none.
    [[nodiscard]] SSL_SESSION* session() const;

    void close();

private:
    int fd_ = -1;
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, SSL_free};
    bool shaken_ = true;
};

}  // namespace bench
