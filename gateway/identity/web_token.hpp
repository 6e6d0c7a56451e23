// Verifies signed JSON Web Tokens (RFC 7519) in the compact form of RFC 7515, as strictly as RFC
// 8725 advises. A refused token counts as missing. The only reason that is reported is that no key
// signed it (`forged`).
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/identity/token_key.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::identity {

inline constexpr std::size_t max_token_bytes = 8192;
// Longest value of a claim. A longer one counts as none.
inline constexpr std::size_t max_claim_bytes = 256;
// Most keys that are tried on one token: those of the right kind that come first in the set.
inline constexpr std::size_t max_tried_keys = 4;
// Most that the issuer's clock may differ from ours.
inline constexpr base::duration token_leeway = std::chrono::seconds{30};

// `token_rules` says which tokens are good, and which claims are wanted of them.
struct token_rules {
    std::vector<token_key> keys;
    // The value that `iss` must have, and `aud` must have or contain; empty: anything, or nothing.
    std::string issuer;
    std::string audience;
    // Names of the wanted claims, as find_claim takes them; each once.
    std::vector<std::string> claims;
};

struct verified_token {
    // The wanted claims that it has, each with its value, which is not empty.
    std::vector<std::pair<std::string, std::string>> claims;
    // Unix time from which on the token is no longer good, the leeway included.
    base::duration expires{};

    // Returns nothing if it has no such claim.
    std::optional<std::string_view> claim(std::string_view name) const;
};

struct token_verification {
    // The token, or nothing if it is not good.
    std::optional<verified_token> token{};
    // True if the only fault is that no key signed the token, which then stays bad for as long as
    // the rules are the same.
    bool forged = false;
    // True if it is forged because there is no key that it could be signed by: none of the name
    // that it gives, or none at all. Fetched keys may come to include it.
    bool unknown_key = false;
};

// Verifies the token at `now`, in Unix time. It is good if all of this holds:
//
//   - it is at most 8 KiB: three parts in base64url without padding, header and payload being JSON
//     objects in which no name occurs twice
//   - the header's `alg` is that of the key, and so is its `kid`, if it has one
//   - the header has none of crit, b64, jku, jwk, x5u and x5c, by which a token says how it wants
//     to be verified
//   - now < exp + leeway and nbf - leeway <= now (RFC 7519 §4.1.4, §4.1.5), if the token has them,
//     which must then be numbers
//   - `iss` and `aud` are as the rules say
//   - the signature is the key's; it is checked last, as it costs most
token_verification verify_token(
    const token_rules& rules, std::string_view token, base::duration now
);

}  // namespace gateway::identity
