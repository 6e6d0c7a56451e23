// One spelling of a path, for matching and for keys; what is forwarded stays as it came.
// A backend may decode, strip and merge in any of the usual ways: whatever it would serve as
// /login must be matched as /login here, or a limit could be dodged by spelling.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gateway::policy {

// `path`: of the request target, without query, beginning with '/'. The result: percent-encodings
// decoded once (%2F becomes a separator), backslash read as '/', parameters (";x=1") of segments
// dropped, empty and "." segments dropped, ".." resolved; a trailing '/' kept.
// Nothing for what no two backends agree on: a malformed percent-encoding, an encoded or raw NUL
// or other control byte, or ".." above the root.
// `out` is cleared and reused; false means refuse with 400.
[[nodiscard]] bool normalise_path(std::string_view path, std::string& out);

// Host for matching and keys: lower case, without port and trailing dot.
void normalise_host(std::string_view host, std::string& out);

}  // namespace gateway::policy
