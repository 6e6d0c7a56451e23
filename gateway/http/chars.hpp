// Character classes of RFC 9110 §5.5-5.6 and RFC 9112, as tables, and a fast skip over field text.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gateway::http {

namespace detail {

constexpr std::array<bool, 256> table_of(std::string_view extra, bool alphanumeric)
{
    std::array<bool, 256> t{};
    for (const char c : extra) {
        t[static_cast<unsigned char>(c)] = true;
    }
    for (int c = 0; alphanumeric && c < 128; ++c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        t[static_cast<std::size_t>(c)] |= letter || (c >= '0' && c <= '9');
    }
    return t;
}

inline constexpr auto token_table = table_of("!#$%&'*+-.^_`|~", true);

}  // namespace detail

// tchar of RFC 9110 §5.6.2.
constexpr bool is_token_char(char c)
{
    return detail::token_table[static_cast<unsigned char>(c)];
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

constexpr bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

constexpr bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

// A byte that may stand in a field value: HTAB, SP, VCHAR or obs-text; no other control byte.
constexpr bool is_field_text(char c)
{
    const auto u = static_cast<unsigned char>(c);
    return u == '\t' || (u >= 0x20 && u != 0x7f);
}

namespace detail {

inline constexpr std::uint64_t ones = 0x0101010101010101;
inline constexpr std::uint64_t highs = 0x8080808080808080;

inline std::uint64_t load(const char* p)
{
    std::uint64_t word = 0;
    std::memcpy(&word, p, sizeof word);
    return word;
}

}  // namespace detail

// The first byte in [p, end) that is no field text. Eight bytes a step (Hacker's Delight §6-1).
inline const char* skip_field_text(const char* p, const char* end)
{
    for (; end - p >= 8; p += 8) {
        const std::uint64_t word = detail::load(p);
        const std::uint64_t below_space = (word - detail::ones * 0x20) & ~word;
        const std::uint64_t deletes = word ^ (detail::ones * 0x7f);
        const std::uint64_t is_delete = (deletes - detail::ones) & ~deletes;
        if (((below_space | is_delete) & detail::highs) != 0) {
            break;
        }
    }
    while (p != end && is_field_text(*p)) {
        ++p;
    }
    return p;
}

// The first byte in [p, end) that is no visible ASCII (0x21 to 0x7e): what ends a request target.
inline const char* skip_visible(const char* p, const char* end)
{
    for (; end - p >= 8; p += 8) {
        const std::uint64_t word = detail::load(p);
        const std::uint64_t outside = word | (word - detail::ones * 0x21) | (word + detail::ones);
        if ((outside & detail::highs) != 0) {
            break;
        }
    }
    while (p != end && *p > 0x20 && *p < 0x7f) {
        ++p;
    }
    return p;
}

}  // namespace gateway::http
