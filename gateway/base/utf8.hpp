// Checks UTF-8 as Unicode's table 3-7 defines it: without overlong forms, surrogates, and code
// points above U+10FFFF. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gateway::base {

// Returns the length of the sequence of two to four bytes at the front of `text`; 0 if there is
// none.
std::size_t utf8_length(std::string_view text);

// Returns the offset of the first byte that begins neither an ASCII character nor such a sequence;
// npos if all of the text is UTF-8.
std::size_t first_not_utf8(std::string_view text);

// Returns the front of the text, of at most so many bytes, without the first bytes of a sequence
// that would be cut.
std::string_view utf8_prefix(std::string_view text, std::size_t most);

// Returns the text with U+FFFD in place of each byte that is no UTF-8.
std::string as_utf8(std::string_view text);

}  // namespace gateway::base
