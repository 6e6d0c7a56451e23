// `ticket_keys` holds up to three keys of session tickets (RFC 5077, RFC 8446 §4.6.1): the newest
// makes tickets, and all are accepted. Each worker derives its own from the same secret, so that a
// client may come back to any worker.
// Thread: one thread only.
#pragma once

#include "gateway/base/clock.hpp"

#include <openssl/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace gateway::net {

// The secret that keys are derived from, unless they come from a file. Every twelve hours after
// `since` it is replaced by one from which the one before cannot be found.
struct ticket_secret {
    std::array<unsigned char, 32> secret{};
    base::instant since{};

    // Makes a random secret.
    static ticket_secret make(base::instant now);

    bool operator==(const ticket_secret&) const = default;
};

class ticket_keys {
public:
    static constexpr std::size_t most = 3;
    // Bytes of one key in a file: its name, a key for HMAC, and one for AES, as in nginx and
    // HAProxy.
    static constexpr std::size_t written_bytes = 80;
    static constexpr base::duration rotation = std::chrono::hours{12};

    explicit ticket_keys(const ticket_secret& begin);

    // Reads the keys of a file: 1 to 3 of written_bytes each, of which the first one makes tickets.
    explicit ticket_keys(const std::string& written);

    // Does the work of OpenSSL's callback for tickets (SSL_CTX_set_tlsext_ticket_key_evp_cb).
    int use(
        unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, bool make
    );

private:
    struct key {
        std::array<unsigned char, 16> name;
        std::array<unsigned char, 32> mac;
        std::array<unsigned char, 32> cipher;
    };

    // Keys, the newest first.
    std::vector<key> keys_;
    // The secret of the newest key; nothing if the keys come from a file.
    std::optional<ticket_secret> at_;

    void advance(base::instant now);
    void add_key();
};

}  // namespace gateway::net
