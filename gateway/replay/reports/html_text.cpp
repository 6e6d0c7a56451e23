#include "gateway/replay/reports/html_text.hpp"

#include "gateway/base/hex.hpp"
#include "gateway/base/utf8.hpp"

#include <algorithm>
#include <array>

namespace gateway::replay {

namespace {

// Characters without a shape that change how their neighbours are shown: marks and overrides of
// direction, isolates, zero-width spaces and the byte order mark, in UTF-8.
constexpr std::array<std::string_view, 23> invisible{
    "\u061c", "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u202a", "\u202b",
    "\u202c", "\u202d", "\u202e", "\u2028", "\u2029", "\u2060", "\u2061", "\u2062",
    "\u2063", "\u2064", "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff"};

void append_code(std::string& to, unsigned byte)
{
    std::array<char, 2> digits{};
    base::write_hex(byte, 2, digits.data());
    to.append("\\x").append(digits.data(), digits.size());
}

bool is_invisible(std::string_view character)
{
    return std::find(invisible.begin(), invisible.end(), character) != invisible.end();
}

void append_ascii(std::string& to, char c)
{
    switch (c) {
        case '<':
            to += "&lt;";
            break;
        case '>':
            to += "&gt;";
            break;
        case '&':
            to += "&amp;";
            break;
        case '"':
            to += "&quot;";
            break;
        case '\'':
            to += "&#39;";
            break;
        default:
            if (c < ' ' || c == '\x7f') {
                append_code(to, static_cast<unsigned char>(c));
            } else {
                to += c;
            }
    }
}

}  // namespace

void append_html(std::string& to, std::string_view text)
{
    while (!text.empty()) {
        if (static_cast<unsigned char>(text.front()) < 0x80) {
            append_ascii(to, text.front());
            text.remove_prefix(1);
            continue;
        }
        const std::size_t length = base::utf8_length(text);
        const std::string_view character = text.substr(0, length == 0 ? 1 : length);
        if (length == 0) {
            to += "\ufffd";
        } else if (is_invisible(character)) {
            for (const char c : character) {
                append_code(to, static_cast<unsigned char>(c));
            }
        } else {
            to += character;
        }
        text.remove_prefix(character.size());
    }
}

}  // namespace gateway::replay
