// A JSON Web Key Set (RFC 7517): the keys by which tokens are known.
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
    // What is wrong with the text, which is not to be used then: "keys[2].n: …". Empty if nothing
    // is.
    std::string complaint;
    // Keys for something else, which a set may hold (RFC 7517 §5): "keys[1]: …".
    std::vector<std::string> passed_over;
};

// RSA keys are for RS256, P-256 for ES256, Ed25519 for EdDSA and secrets for HS256. A key that
// names another `alg`, type, curve, `use` or `key_ops` is passed over; one of these that is
// malformed or weak, or a set without any of them, is complained of.
token_keys parse_token_keys(std::string_view text);

}  // namespace gateway::identity
