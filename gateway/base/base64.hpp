// Strict Base64 (RFC 4648): checks, decoding and the canonical spelling of a text. Lenient decoders
// skip foreign bytes, missing padding and left-over bits, and so take many texts for one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gateway::base {

// True if `text` is canonical in the standard alphabet, with padding (§4).
bool is_canonical_base64(std::string_view text);

// True if `text` is canonical in the alphabet for URLs, without padding (§5), as in JSON Web
// Tokens.
bool is_canonical_base64url(std::string_view text);

// Appends to `out` the canonical spelling of what a lenient decoder takes `text` for: without
// foreign bytes, padding and left-over bits, and with '-' and '_' for '+' and '/'. A single
// left-over digit stays, which nobody can decode.
void append_as_canonical_base64url(std::string_view text, std::string& out);

// Returns the bytes that a canonical text without padding (§5) spells; nothing if it is not
// canonical.
std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace gateway::base
