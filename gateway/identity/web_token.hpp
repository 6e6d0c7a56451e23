// JSON Web Tokens (RFC 7519) in the compact form of RFC 7515, signed; as strict as RFC 8725
// advises. Nothing here says why a token is refused: to whoever asks it is as if there were none.
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
// A longer value of a claim counts as none.
inline constexpr std::size_t max_claim_bytes = 256;
// Of the keys that a token may be signed with, so many are tried: those that come first in the set.
inline constexpr std::size_t max_tried_keys = 4;
// How far the issuer's clock may be away from ours.
inline constexpr base::duration token_leeway = std::chrono::seconds{30};

// Which tokens are good, and what is wanted of them.
struct token_rules {
    std::vector<token_key> keys;
    // What `iss` must be, and what `aud` must be or contain; empty: anything, or nothing.
    std::string issuer;
    std::string audience;
    // The claims that are asked for, as find_claim takes them; each once.
    std::vector<std::string> claims;
};

struct verified_token {
    // The claims of the rules that it has, each with its value, which is not empty.
    std::vector<std::pair<std::string, std::string>> claims;
    // In Unix time, the leeway included: from then on it is not good any more.
    base::duration expires{};

    // Nothing if it has no such claim.
    std::optional<std::string_view> claim(std::string_view name) const;
};

struct token_verification {
    // Nothing: the token is not good.
    std::optional<verified_token> token{};
    // True if the only fault is that no key signed the token: it stays bad for as long as the rules
    // are the same.
    bool forged = false;
};

// Returns what the token says at `now`, in Unix time, if all of this holds:
//
//   - it is at most 8 KiB: three parts in base64url without padding, header and payload being JSON
//     objects in which no name occurs twice
//   - the header's `alg` is that of the key, and its `kid`, if it has one, the key's; it has none
//   of
//     crit, b64, jku, jwk, x5u and x5c, by which a token says how it wants to be verified
//   - now < exp + leeway and nbf - leeway <= now (RFC 7519 §4.1.4, §4.1.5), where it has them: they
//     are numbers then
//   - `iss` and `aud` are as the rules say
//   - the signature is the key's. It is looked at last, as it costs most
token_verification verify_token(
    const token_rules& rules, std::string_view token, base::duration now
);

}  // namespace gateway::identity
