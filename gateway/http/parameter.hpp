// Names and values of query parameters and cookies, as servers read them. Servers differ, so keys
// go by what some server may read.
#pragma once

#include <string>
#include <string_view>

namespace gateway::http {

// Percent-decodes; a '+', encoded or not, becomes the space that many servers read for it, so that
// what differs in that alone is one value. False if servers differ about the rest: malformed
// percent-encodings and control bytes. `out` is then the best guess.
bool decode_parameter(std::string_view text, std::string& out);

// Whether some server that is asked for the parameter or cookie `key` may answer with the one of
// this name, decoded:
//
//   case         some ignore the case of letters
//   marks        `.`, space and `[` are `_` to PHP, others have other lists: all marks are one
//   in front     blanks, brackets, '?' and '.' are passed over
//   at the end   blanks are passed over, and what follows a bracket or NUL: `key[]`, `key[a]`
//   not ASCII    passed over, as there are blanks among them
bool may_be_read_as(std::string_view name, std::string_view key);

}  // namespace gateway::http
