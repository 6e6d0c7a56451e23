// Hexadecimal digits, as in percent-encodings, chunk sizes and addresses.
#pragma once

#include "gateway/base/text.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gateway::base {

// Returns the digit's value, or -1 if `c` is no digit.
constexpr int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Writes the last `digits` digits of `number` in lower case and returns the end of the output.
constexpr char* write_hex(std::uint64_t number, int digits, char* out)
{
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
        *out++ = "0123456789abcdef"[number >> shift & 0xf];
    }
    return out;
}

// Returns the bytes as text, two lower-case digits for each.
inline std::string hex_of(std::span<const unsigned char> bytes)
{
    std::string text(2 * bytes.size(), '\0');
    char* out = text.data();
    for (const unsigned char byte : bytes) {
        out = write_hex(byte, 2, out);
    }
    return text;
}

// Returns the byte that `text` begins with in two digits behind `mark`, or -1 if it begins with
// none.
constexpr int marked_byte(char mark, std::string_view text)
{
    if (text.size() < 3 || text[0] != mark) {
        return -1;
    }
    const int high = hex_digit(text[1]);
    const int low = hex_digit(text[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Returns the byte that `text` begins with as a percent-encoding (RFC 3986 §2.1), or -1 if it
// begins with none.
constexpr int percent_encoded(std::string_view text)
{
    return marked_byte('%', text);
}

}  // namespace gateway::base
