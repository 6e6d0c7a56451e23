// What Authorization says, in one spelling (RFC 9110 §11.4), so that one credential is one key.
#pragma once

#include <string>
#include <string_view>

namespace gateway::http {

// The scheme in lower case, one space, and what follows it. False if servers could read it in more
// than one way:
//
//   any scheme      bytes that are not ASCII (some are blanks to some servers), or words behind the
//                   first one (`ApiKey a b`), unless that begins a list of parameters
//   Basic           base64 that only lenient decoders take
//   Bearer, Token   what is no single token; a JSON Web Token in base64 that only lenient decoders
//                   take. The two are one scheme, and `token="a"` is `a`, as Rails has it; `=` at
//                   the end does not count
//
// `out` keeps its memory.
[[nodiscard]] bool read_credentials(std::string_view value, std::string& out);

}  // namespace gateway::http
