// A key that tokens are signed with, as far as who verifies them has it (RFC 7518 §3, RFC 8037).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace gateway::identity {

enum class token_algorithm { hs256, rs256, es256, eddsa };

// As the header of a token has it; case-sensitive. Nothing for any other.
std::optional<token_algorithm> token_algorithm_of(std::string_view name);

// Whoever holds a key knows what it is for: the algorithm is the key's, and never a token's.
// Immutable; any number of threads may use it at once.
class token_key {
public:
    static constexpr std::size_t min_secret_bytes = 32;
    static constexpr int min_modulus_bits = 2048;
    static constexpr int max_modulus_bits = 8192;
    static constexpr std::size_t coordinate_bytes = 32;

    // The members of an RSA key as bytes, big end first. Nothing unless the modulus is odd and has
    // so many bits, and the exponent is odd and between 3 and 2^64 - 1.
    static std::optional<token_key> rsa(std::string_view modulus, std::string_view exponent);

    // Of 32 bytes each. Nothing if that is no point on P-256.
    static std::optional<token_key> p256(std::string_view x, std::string_view y);

    // Of 32 bytes. Nothing if OpenSSL does not take it.
    static std::optional<token_key> ed25519(std::string_view x);

    // Nothing if it is shorter than the hash (RFC 7518 §3.2).
    static std::optional<token_key> secret(std::string_view bytes);

    token_algorithm algorithm() const { return algorithm_; }

    // Whether this is the one form of a signature of `text` by this key's owner: RS256 of the
    // modulus's length, ES256 of 64 bytes (r and s, not DER), EdDSA of 64 and HS256 of 32.
    bool verifies(std::string_view text, std::string_view signature) const;

    // Its name (`kid`); nothing if it has none.
    std::optional<std::string> id;

private:
    token_algorithm algorithm_;
    // Of HS256.
    std::string secret_;
    // Of all others.
    std::shared_ptr<evp_pkey_st> public_;

    explicit token_key(token_algorithm algorithm) : algorithm_(algorithm) {}

    bool verifies_publicly(std::string_view text, std::string_view signature) const;
};

}  // namespace gateway::identity
