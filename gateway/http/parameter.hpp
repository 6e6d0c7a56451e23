// `decode_parameter` and `may_be_read_as` read names and values of query parameters and cookies as
// servers do. Servers differ, so keys depend on what any server may read.
#pragma once

#include <string>
#include <string_view>

namespace gateway::http {

// Decodes percent-encodings. A '+', encoded or not, becomes the space that many servers read for
// it, so that values that differ only in this are one. Returns false if servers differ about the
// rest: malformed percent-encodings and control bytes. `out` is then the best guess.
bool decode_parameter(std::string_view text, std::string& out);

// True if some server that looks for the parameter or cookie `key` may take the one with this
// decoded name:
//
//   case         some servers ignore the case of letters
//   marks        `.`, space and `[` are `_` to PHP, and other servers have other lists, so that all
//                marks are equal
//   in front     blanks, control bytes, brackets, '?' and '.' are skipped
//   at the end   blanks are skipped, and what follows a bracket or NUL: `key[]`, `key[a]`
//   not ASCII    skipped, as there are blanks among them
bool may_be_read_as(std::string_view name, std::string_view key);

}  // namespace gateway::http
