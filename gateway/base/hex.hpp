// Hexadecimal digits, as percent-encodings, chunk sizes and addresses are written.
#pragma once

#include "gateway/base/text.hpp"

#include <string_view>

namespace gateway::base {

// The digit's value, or -1 if it is none.
constexpr int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The byte that `text` begins with if that is a percent-encoding (RFC 3986 §2.1), or -1.
constexpr int percent_encoded(std::string_view text)
{
    if (text.size() < 3 || text[0] != '%') {
        return -1;
    }
    const int high = hex_digit(text[1]);
    const int low = hex_digit(text[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace gateway::base
