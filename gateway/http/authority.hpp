// uri-host [ ":" port ] (RFC 9110 §4.2, RFC 3986 §3.2): what Host and absolute-form targets name.
#pragma once

#include <string_view>

namespace gateway::http {

// True for a valid, non-empty host with an optional port, and nothing else: no userinfo, no spaces.
// A name has letters, digits, '-', '_' and '.', and no empty label but the root's at its end. RFC
// 3986 allows more, which no host that is resolved needs: a server behind may split "a,b" at the
// comma, or decode "%61", and serve a host that no route was matched with.
bool is_authority(std::string_view text);

}  // namespace gateway::http
