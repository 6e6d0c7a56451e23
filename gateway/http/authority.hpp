// `is_authority` checks the uri-host [ ":" port ] of Host and of absolute-form targets (RFC 9110
// §4.2, RFC 3986 §3.2).
#pragma once

#include <string_view>

namespace gateway::http {

// True if the text is a valid, non-empty host with an optional port, and nothing else: no userinfo,
// no spaces. A host name has letters, digits, '-', '_' and '.', and no empty label but the root's
// at its end. RFC 3986 allows more, but no host that can be resolved needs it. A server behind the
// gateway may split "a,b" at the comma, or decode "%61", and serve a host for which no route was
// matched.
bool is_authority(std::string_view text);

}  // namespace gateway::http
