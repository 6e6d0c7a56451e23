// Computes where the keys of a client are in a cluster. Pure.
//
// A script reaches the keys of one slot only. The keys of all limits that tell clients apart by the
// same values therefore have the same tag, which alone decides their slot. The tag stands right
// behind the prefix.
#pragma once

#include "gateway/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::store::redis {

inline constexpr std::size_t slot_count = 16'384;

// Returns the slot of keys with that tag.
std::uint16_t slot_of(std::string_view tag);

// Returns eight digits of a hash of the values that identify the client.
std::string tag_of(const charge& c);

// Returns "prefix{tag}".
std::string tagged(std::string_view key_prefix, std::string_view tag);

// Returns some tag of that slot.
std::string tag_in(std::uint16_t slot);

}  // namespace gateway::store::redis
