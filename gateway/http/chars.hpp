// Character classes of RFC 9110 §5.5-5.6 and RFC 9112, and fast skips over them.
#pragma once

#include "gateway/base/bytes16.hpp"
#include "gateway/base/chars.hpp"

namespace gateway::http {

using base::is_token;
using base::is_token_char;

constexpr bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

constexpr bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

// True if the byte may stand in a field value: HTAB, SP, VCHAR or obs-text, and no other control
// byte.
constexpr bool is_field_text(char c)
{
    const auto u = static_cast<unsigned char>(c);
    return u == '\t' || (u >= 0x20 && u != 0x7f);
}

// Maps each byte to its form in comparisons of names: letters to lower case, digits to themselves,
// all others to '-'. Neither a letter's case nor the mark between two words counts.
inline constexpr std::array<char, 256> folded = [] {
    std::array<char, 256> t{};
    t.fill('-');
    for (unsigned char c = '0'; c <= '9'; ++c) {
        t[c] = static_cast<char>(c);
    }
    for (unsigned char c = 'a'; c <= 'z'; ++c) {
        t[c] = t[static_cast<std::size_t>(c - 'a' + 'A')] = static_cast<char>(c);
    }
    return t;
}();

constexpr char fold(char c)
{
    return folded[static_cast<unsigned char>(c)];
}

// Returns one bit for each of the sixteen bytes at `p`, set if it is a control byte.
inline std::uint32_t control_bits(const char* p)
{
    const base::bytes16 v = base::load16(p);
    return base::bits_of((v < 0x20) | (v == 0x7f));
}

// Returns the first control byte in [p, end), or `end`. HTAB is one. Most values are shorter than
// two steps of sixteen.
inline const char* find_control(const char* p, const char* end)
{
    for (; end - p >= 32; p += 32) {
        const std::uint32_t controls = control_bits(p) | control_bits(p + 16) << 16;
        if (controls != 0) {
            return p + std::countr_zero(controls);
        }
    }
    if (end - p >= 16) {
        const std::uint32_t controls = control_bits(p);
        if (controls != 0) {
            return p + std::countr_zero(controls);
        }
        p += 16;
    }
    while (p != end && is_field_text(*p) && *p != '\t') {
        ++p;
    }
    return p;
}

// Returns the first byte in [p, end) that is not field text, or `end`.
inline const char* skip_field_text(const char* p, const char* end)
{
    p = find_control(p, end);
    while (p != end && *p == '\t') {
        p = find_control(p + 1, end);
    }
    return p;
}

// Returns the first byte in [p, end) that is not visible ASCII (0x21 to 0x7e), or `end`. That
// byte ends a request target.
inline const char* skip_visible(const char* p, const char* end)
{
    while (end - p >= 16) {
        const base::bytes16 v = base::load16(p);
        const int visible = base::first_true((v < 0x21) | (v > 0x7e));
        p += visible;
        if (visible < 16) {
            return p;
        }
    }
    while (p != end && *p > 0x20 && *p < 0x7f) {
        ++p;
    }
    return p;
}

// Returns the first byte in [p, end) that is not a token character, or `end`. Most names are short,
// and consist of letters and '-'.
inline const char* skip_token(const char* p, const char* end)
{
    if (end - p >= 16) {
        const base::bytes16 v = base::load16(p);
        const base::bytes16 from_a = (v | 0x20) - 'a';
        p += base::first_false((from_a <= 25) | (v == '-'));
    }
    while (p != end && is_token_char(*p)) {
        ++p;
    }
    return p;
}

}  // namespace gateway::http
