#include "gateway/base/utf8.hpp"

#include <cstdint>

namespace gateway::base {

namespace {

std::uint8_t byte_of(std::string_view text, std::size_t i)
{
    return static_cast<std::uint8_t>(text[i]);
}

}  // namespace

std::size_t utf8_length(std::string_view text)
{
    const std::uint8_t first = text.empty() ? 0 : byte_of(text, 0);
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) {
        return 0;
    }
    const std::uint8_t second = byte_of(text, 1);
    const std::uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const std::uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (second < low || second > high) {
        return 0;
    }
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte_of(text, i) & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

std::size_t first_not_utf8(std::string_view text)
{
    std::size_t at = 0;
    while (at < text.size()) {
        const bool ascii = byte_of(text, at) < 0x80;
        const std::size_t length = ascii ? 1 : utf8_length(text.substr(at));
        if (length == 0) {
            return at;
        }
        at += length;
    }
    return std::string_view::npos;
}

std::string_view utf8_prefix(std::string_view text, std::size_t most)
{
    constexpr std::size_t longest_rest = 3;
    if (text.size() <= most) {
        return text;
    }
    std::size_t end = most;
    while (end > 0 && most - end < longest_rest && (byte_of(text, end) & 0xc0) == 0x80) {
        --end;
    }
    return text.substr(0, end);
}

std::string as_utf8(std::string_view text)
{
    std::string out;
    for (std::size_t bad = first_not_utf8(text); bad != std::string_view::npos;
         bad = first_not_utf8(text)) {
        out.append(text.substr(0, bad)).append("\xef\xbf\xbd");
        text.remove_prefix(bad + 1);
    }
    return out.append(text);
}

}  // namespace gateway::base
