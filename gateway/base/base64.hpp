// Base64 (RFC 4648), strictly: as encoders spell it. Decoders that are not strict pass over foreign
// bytes, missing padding and bits that are left over, and so take many texts for one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gateway::base {

// In the standard alphabet, padded (§4).
bool is_canonical_base64(std::string_view text);

// In the alphabet for URLs, without padding (§5), as JSON Web Tokens have it.
bool is_canonical_base64url(std::string_view text);

// Appends what decoders that are not strict take the text for, in its canonical spelling: without
// foreign bytes, padding and bits that are left over, and with '-' and '_' for '+' and '/'. A
// single digit that is left over stays, which nobody can decode.
void append_as_canonical_base64url(std::string_view text, std::string& out);

// The bytes that such a text spells; nothing if it is not canonical.
std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace gateway::base
