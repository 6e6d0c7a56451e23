// `read_token` and `read_password` read a file that holds a secret and nothing else.
#pragma once

#include "config/urls/address.hpp"

#include <string>

namespace gateway::config {

inline constexpr std::size_t max_token_bytes = 1024;
inline constexpr std::size_t max_password_bytes = 512;

// Returns the token of RFC 6750 §2.1 (b64token), without the end of its line. Otherwise returns
// what is wrong with the file, in a clause that never repeats its content.
parsed<std::string> read_token(const std::string& path);

// Returns a password of any bytes, without the end of its line, or what is wrong with the file, as
// above.
parsed<std::string> read_password(const std::string& path);

}  // namespace gateway::config
