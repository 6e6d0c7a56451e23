// `read_credentials` gives the value of Authorization one spelling (RFC 9110 §11.4), so that one
// credential is one key.
#pragma once

#include <string>
#include <string_view>

namespace gateway::http {

// Sets `out` to the scheme in lower case, one space, and the rest of the value. `out` keeps its
// memory. Returns false if servers could read the value in more than one way:
//
//   any scheme      bytes that are not ASCII (some servers take some of them for blanks), or words
//                   behind the first one (`ApiKey a b`), unless that begins a list of parameters
//   Basic           base64 that only lenient decoders accept
//   Bearer, Token   more or less than a single token; a JSON Web Token in base64 that only lenient
//                   decoders accept
//
// Bearer and Token become one scheme, and `token="a"` becomes `a`, as Rails reads it. A '=' at the
// end of their token is dropped.
[[nodiscard]] bool read_credentials(std::string_view value, std::string& out);

}  // namespace gateway::http
