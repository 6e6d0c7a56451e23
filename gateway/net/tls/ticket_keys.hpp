// The keys of session tickets (RFC 5077, RFC 8446 §4.6.1): of three the newest makes tickets, and
// all are accepted. Each worker has its own of the same secret, so that a client may come back to
// any of them. One thread.
#pragma once

#include "gateway/base/clock.hpp"

#include <openssl/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace gateway::net {

// Where the keys begin. Without `written` they are made of `secret`: every twelve hours since then
// it becomes another, from which the one before cannot be found.
struct ticket_secret {
    std::array<unsigned char, 32> secret{};
    base::instant since{};

    // At random.
    static ticket_secret make(base::instant now);

    bool operator==(const ticket_secret&) const = default;
};

class ticket_keys {
public:
    static constexpr std::size_t most = 3;
    // Of one in a file: its name, a key for HMAC, one for AES, as nginx and HAProxy have them.
    static constexpr std::size_t written_bytes = 80;
    static constexpr base::duration rotation = std::chrono::hours{12};

    explicit ticket_keys(const ticket_secret& begin);

    // Those of a file: 1 to 3 of written_bytes each, the first one makes tickets.
    explicit ticket_keys(const std::string& written);

    // What OpenSSL's callback for tickets does (SSL_CTX_set_tlsext_ticket_key_evp_cb).
    int use(
        unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, bool make
    );

private:
    struct key {
        std::array<unsigned char, 16> name;
        std::array<unsigned char, 32> mac;
        std::array<unsigned char, 32> cipher;
    };

    // The newest first.
    std::vector<key> keys_;
    // Not of a file.
    std::optional<ticket_secret> at_;

    void advance(base::instant now);
    void add_key();
};

}  // namespace gateway::net
