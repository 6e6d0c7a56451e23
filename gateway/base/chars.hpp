// Character classes as tables, and the tokens of RFC 9110 §5.6.2, which are the names of fields and
// methods and much else.
#pragma once

#include <array>
#include <string_view>

namespace gateway::base {

// Returns a table of the bytes in a class: ASCII letters and digits, and the bytes in `extra`.
constexpr std::array<bool, 256> alphanumeric_and(std::string_view extra)
{
    std::array<bool, 256> t{};
    for (const char c : extra) {
        t[static_cast<unsigned char>(c)] = true;
    }
    for (int c = 0; c < 128; ++c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        t[static_cast<std::size_t>(c)] |= letter || (c >= '0' && c <= '9');
    }
    return t;
}

constexpr bool is_control(char c)
{
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

inline constexpr auto token_chars = alphanumeric_and("!#$%&'*+-.^_`|~");

constexpr bool is_token_char(char c)
{
    return token_chars[static_cast<unsigned char>(c)];
}

constexpr bool is_token(std::string_view text)
{
    for (const char c : text) {
        if (!is_token_char(c)) {
            return false;
        }
    }
    return !text.empty();
}

}  // namespace gateway::base
