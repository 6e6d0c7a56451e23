// Parses a JSON Web Key Set (RFC 7517): the keys that verify tokens.
#pragma once

#include "gateway/identity/token_key.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::identity {

inline constexpr std::size_t max_key_set_bytes = std::size_t{1} << 20;
inline constexpr std::size_t max_token_keys = 100;

struct token_keys {
    std::vector<token_key> keys;
    // The error in the text, which must not be used then: "keys[2].n: …". Empty if there is none.
    std::string complaint;
    // Keys for another purpose, which a set may hold (RFC 7517 §5): "keys[1]: …".
    std::vector<std::string> passed_over;
};

// `keys_from` says where a set of keys comes from: from a file of the operator's, or from a URL.
enum class keys_from { file, url };

// Takes RSA keys for RS256, P-256 for ES256, Ed25519 for EdDSA and, from a file, secrets for HS256.
// Passes over a key that names another `alg`, type, curve, `use` or `key_ops`. Complains of a key
// of these kinds that is malformed or weak, and of a set without any of them. Such a key from a URL
// is passed over (RFC 7517 §5), and so is a secret, which is none if others can fetch it.
token_keys parse_token_keys(std::string_view text, keys_from from = keys_from::file);

}  // namespace gateway::identity
