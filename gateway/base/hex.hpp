// Hexadecimal digits, as percent-encodings, chunk sizes and addresses are written.
#pragma once

#include "gateway/base/text.hpp"

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

}  // namespace gateway::base
