#include "gateway/base/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace gateway::base {

namespace {

// Value of each digit; -1 for any other byte.
using digit_values = std::array<std::int8_t, 256>;

constexpr digit_values values_of(std::string_view last_two_digits)
{
    digit_values t{};
    t.fill(-1);
    std::int8_t value = 0;
    for (unsigned char c = 'A'; c <= 'Z'; ++c) {
        t[c] = value++;
    }
    for (unsigned char c = 'a'; c <= 'z'; ++c) {
        t[c] = value++;
    }
    for (unsigned char c = '0'; c <= '9'; ++c) {
        t[c] = value++;
    }
    for (const char c : last_two_digits) {
        t[static_cast<unsigned char>(c)] = value++;
    }
    return t;
}

constexpr digit_values standard = values_of("+/");
constexpr digit_values for_urls = values_of("-_");

// True if all are digits, and the bits that the last one does not need are zero.
bool are_canonical(std::string_view digits, const digit_values& value_of)
{
    const auto value = [&](char c) { return value_of[static_cast<unsigned char>(c)]; };
    if (!std::all_of(digits.begin(), digits.end(), [&](char c) { return value(c) >= 0; })) {
        return false;
    }
    switch (digits.size() % 4) {
        case 0:
            return true;
        case 2:
            return (value(digits.back()) & 0b1111) == 0;
        case 3:
            return (value(digits.back()) & 0b11) == 0;
        default:
            return false;
    }
}

}  // namespace

bool is_canonical_base64(std::string_view text)
{
    const std::size_t last_digit = text.find_last_not_of('=');
    const std::size_t padding = text.size() - (last_digit + 1);
    return text.size() % 4 == 0 && padding <= 2 &&
           are_canonical(text.substr(0, text.size() - padding), standard);
}

bool is_canonical_base64url(std::string_view text)
{
    return are_canonical(text, for_urls);
}

void append_as_canonical_base64url(std::string_view text, std::string& out)
{
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const std::size_t begin = out.size();
    for (const char c : text) {
        const std::size_t byte = static_cast<unsigned char>(c);
        const std::int8_t value = std::max(for_urls[byte], standard[byte]);
        if (value >= 0) {
            out += digits[static_cast<std::size_t>(value)];
        }
    }
    const std::size_t left_over = (out.size() - begin) % 4;
    if (left_over >= 2) {
        const std::int8_t last = for_urls[static_cast<unsigned char>(out.back())];
        const int used = left_over == 2 ? 0b110000 : 0b111100;
        out.back() = digits[static_cast<std::size_t>(last & used)];
    }
}

std::optional<std::string> decode_base64url(std::string_view text)
{
    if (!is_canonical_base64url(text)) {
        return std::nullopt;
    }
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const auto value = for_urls[static_cast<unsigned char>(c)];
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> count);
        }
    }
    return bytes;
}

}  // namespace gateway::base
