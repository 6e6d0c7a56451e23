// Where the keys of a client live in a cluster. Pure.
//
// A call of a script reaches the keys of one slot only. So the keys of all limits that tell a
// client by the same values have the same tag, which alone says which slot they are in; the tag
// stands right behind the prefix.
#pragma once

#include "gateway/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::store::redis {

inline constexpr std::size_t slot_count = 16'384;

// Of a key that is nothing but a tag.
std::uint16_t slot_of(std::string_view tag);

// Eight digits of a hash of what the client is told by.
std::string tag_of(const charge& c);

// "prefix{tag}"
std::string tagged(std::string_view key_prefix, std::string_view tag);

// Some tag of that slot.
std::string tag_in(std::uint16_t slot);

}  // namespace gateway::store::redis
