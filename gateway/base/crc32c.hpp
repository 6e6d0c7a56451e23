// CRC-32C, the Castagnoli checksum of RFC 3720. It finds damage but no forgery.
#pragma once

#include <cstdint>
#include <string_view>

namespace gateway::base {

// Returns the checksum of `bytes` and the bytes before them. `before` is the checksum of those, 0
// if there are none.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace gateway::base
