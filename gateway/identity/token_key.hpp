// `token_key` verifies the signatures of tokens: a public key, or a secret (RFC 7518 §3, RFC 8037).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace gateway::identity {

enum class token_algorithm { hs256, rs256, es256, eddsa };

// Returns the algorithm by its case-sensitive name in a token's header. Nothing for any other.
std::optional<token_algorithm> token_algorithm_of(std::string_view name);

// The algorithm belongs to the key, and is never taken from a token.
// Thread: any; a key is immutable.
class token_key {
public:
    static constexpr std::size_t min_secret_bytes = 32;
    static constexpr int min_modulus_bits = 2048;
    static constexpr int max_modulus_bits = 8192;
    static constexpr std::size_t coordinate_bytes = 32;

    // Makes an RSA key of its members as bytes, big end first. Nothing unless the modulus is odd
    // and of min_modulus_bits to max_modulus_bits, and the exponent is odd and from 3 to 2^64 - 1.
    static std::optional<token_key> rsa(std::string_view modulus, std::string_view exponent);

    // Makes a key of a point on P-256. Nothing unless x and y have 32 bytes each, and the point is
    // on the curve.
    static std::optional<token_key> p256(std::string_view x, std::string_view y);

    // Makes an Ed25519 key of 32 bytes. Nothing if OpenSSL does not take it.
    static std::optional<token_key> ed25519(std::string_view x);

    // Makes an HS256 key of a secret. Nothing if it is shorter than the hash (RFC 7518 §3.2).
    static std::optional<token_key> secret(std::string_view bytes);

    token_algorithm algorithm() const { return algorithm_; }

    // True if this is the one form of a signature of `text` by this key's owner: RS256 of the
    // modulus's length, ES256 of 64 bytes (r and s, not DER), EdDSA of 64 and HS256 of 32.
    bool verifies(std::string_view text, std::string_view signature) const;

    // The key's name (`kid`), or nothing if it has none.
    std::optional<std::string> id;

private:
    token_algorithm algorithm_;
    // The secret of an HS256 key.
    std::string secret_;
    // The public key for all other algorithms.
    std::shared_ptr<evp_pkey_st> public_;

    explicit token_key(token_algorithm algorithm) : algorithm_(algorithm) {}

    bool verifies_publicly(std::string_view text, std::string_view signature) const;
};

}  // namespace gateway::identity
