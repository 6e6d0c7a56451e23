// CRC-32C, the checksum of RFC 3720 (Castagnoli). It finds damage, and no forgery.
#pragma once

#include <cstdint>
#include <string_view>

namespace gateway::base {

// Of `before` and `bytes` together; `before` is the checksum of the bytes before these, 0 of none.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace gateway::base
