// `gzipped` compresses answers of the admin API (RFC 1952). Pure.
#pragma once

#include <string>
#include <string_view>

namespace gateway::admin {

// True if a field Accept-Encoding of this value allows gzip (RFC 9110 §12.5.3).
bool accepts_gzip(std::string_view accepted);

std::string gzipped(std::string_view text);

}  // namespace gateway::admin
