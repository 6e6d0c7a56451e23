// Makes UUIDs of version 7 (RFC 9562 §5.7): a moment, then random bits, so that ids sort by time.
// Pure.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/hex.hpp"

#include <array>
#include <cstdint>

namespace gateway::base {

// A UUID as 36 characters, in lower case.
using uuid_text = std::array<char, 36>;

// Returns a UUID of the milliseconds of `unix_time` and of 74 bits of the two random numbers.
inline uuid_text make_uuid7(duration unix_time, std::uint64_t random, std::uint64_t more)
{
    const auto milliseconds =
        static_cast<std::uint64_t>(std::chrono::floor<std::chrono::milliseconds>(unix_time).count()
        );
    constexpr std::uint64_t version = 0x7000;
    constexpr std::uint64_t variant = 0x8000;
    uuid_text text{};
    char* to = write_hex(milliseconds >> 16, 8, text.data());
    *to++ = '-';
    to = write_hex(milliseconds, 4, to);
    *to++ = '-';
    to = write_hex(version | (random & 0xfff), 4, to);
    *to++ = '-';
    to = write_hex(variant | (random >> 12 & 0x3fff), 4, to);
    *to++ = '-';
    write_hex(more, 12, to);
    return text;
}

}  // namespace gateway::base
