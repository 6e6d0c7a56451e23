// uri-host [ ":" port ] (RFC 9110 §4.2, RFC 3986 §3.2): what Host and absolute-form targets name.
#pragma once

#include <string_view>

namespace gateway::http {

// A valid, non-empty host with an optional port, and nothing else: no userinfo, no spaces.
bool is_authority(std::string_view text);

}  // namespace gateway::http
