// Base64 (RFC 4648), as far as keys need it: whether a text is spelled as encoders spell it.
// Decoders that are not strict pass over foreign bytes, missing padding and bits that are left
// over, and so take many texts for one.
#pragma once

#include <string_view>

namespace gateway::base {

// In the standard alphabet, padded (§4).
bool is_canonical_base64(std::string_view text);

// In the alphabet for URLs, without padding (§5), as JSON Web Tokens have it.
bool is_canonical_base64url(std::string_view text);

}  // namespace gateway::base
