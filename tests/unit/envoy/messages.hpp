// Writes protobuf by hand, right or wrong, for tests and fuzzers of the decoder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::envoy::testing {

inline std::string varint(std::uint64_t n)
{
    std::string bytes;
    while (n >= 0x80) {
        bytes += static_cast<char>(n | 0x80);
        n >>= 7;
    }
    return bytes += static_cast<char>(n);
}

// The tag of a field: types are 0 varint, 1 eight bytes, 2 text, 3 and 4 groups, 5 four bytes.
inline std::string tag(std::uint32_t field, std::uint32_t type)
{
    return varint(std::uint64_t{field} << 3 | type);
}

inline std::string number(std::uint32_t field, std::uint64_t n)
{
    return tag(field, 0) + varint(n);
}

inline std::string text(std::uint32_t field, std::string_view bytes)
{
    return (tag(field, 2) + varint(bytes.size())).append(bytes);
}

// An entry as a field of a descriptor.
inline std::string entry(std::string_view key, std::string_view value)
{
    return text(1, text(1, key) + text(2, value));
}

}  // namespace gateway::envoy::testing
