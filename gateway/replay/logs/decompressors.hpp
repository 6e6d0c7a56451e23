// `decompressor_for` makes the decompressor that fits the first bytes of a file.
#pragma once

#include "gateway/replay/logs/compressed_bytes.hpp"

namespace gateway::replay {

// Number of first bytes that tell what a file is.
inline constexpr std::size_t longest_magic = 4;

// Returns null if the bytes are no beginning of compressed data.
std::unique_ptr<decompressor> decompressor_for(std::string_view first_bytes);

}  // namespace gateway::replay
