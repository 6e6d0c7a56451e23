#include "gateway/telemetry/escape.hpp"

#include "gateway/base/bytes16.hpp"
#include "gateway/base/utf8.hpp"

#include <algorithm>
#include <cstdint>

namespace gateway::telemetry {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

std::uint8_t byte_at(std::string_view text, std::size_t i)
{
    return static_cast<std::uint8_t>(text[i]);
}

bool is_plain(std::uint8_t b)
{
    return b >= 0x20 && b < 0x7f && b != '"' && b != '\\';
}

bool needs_escape(base::bytes16 v)
{
    return base::any_true((v < 0x20) | (v > 0x7e) | (v == '"') | (v == '\\'));
}

// True if nothing needs an escape, which is nearly always so.
bool is_plain(std::string_view text)
{
    constexpr std::size_t step = sizeof(base::bytes16);
    constexpr std::size_t half = step / 2;
    if (text.size() >= step) {
        return !base::any_step(text, [](const char* p) { return needs_escape(base::load16(p)); });
    }
    if (text.size() >= half) {
        const char* const last = text.data() + text.size() - half;
        return !needs_escape(base::load8_8(text.data(), last));
    }
    return std::all_of(text.begin(), text.end(), [](char c) {
        return is_plain(static_cast<std::uint8_t>(c));
    });
}

void append_hex(std::string& out, std::string_view prefix, std::uint8_t b)
{
    out += prefix;
    out += hex_digits[b >> 4];
    out += hex_digits[b & 0xf];
}

struct json_style {
    static void ascii(std::string& out, std::uint8_t b)
    {
        if (b == '"' || b == '\\') {
            out += '\\';
            out += static_cast<char>(b);
        } else {
            append_hex(out, "\\u00", b);
        }
    }

    static void c1(std::string& out, std::uint8_t b) { append_hex(out, "\\u00", b); }

    static void broken(std::string& out, std::uint8_t) { out += "\\ufffd"; }
};

struct plain_style {
    static void ascii(std::string& out, std::uint8_t b)
    {
        if (b == '"' || b == '\\') {
            out += '\\';
            out += static_cast<char>(b);
        } else {
            broken(out, b);
        }
    }

    static void c1(std::string& out, std::uint8_t b) { append_hex(out, "\\xc2\\x", b); }

    static void broken(std::string& out, std::uint8_t b) { append_hex(out, "\\x", b); }
};

struct line_style : plain_style {
    static void ascii(std::string& out, std::uint8_t b)
    {
        if (b == '"') {
            out += '"';
        } else {
            plain_style::ascii(out, b);
        }
    }
};

// True if a control character of U+0080 to U+009F begins here. Terminals may obey these.
bool is_c1(std::string_view text, std::size_t i)
{
    return byte_at(text, i) == 0xc2 && i + 1 < text.size() && byte_at(text, i + 1) >= 0x80 &&
           byte_at(text, i + 1) < 0xa0;
}

template <typename Style>
void append_run(std::string& out, std::string_view text)
{
    if (is_plain(text)) {
        out += text;
        return;
    }
    std::size_t done = 0;  // Bytes handled so far.
    std::size_t i = 0;
    while (i < text.size()) {
        const std::uint8_t b = byte_at(text, i);
        const std::size_t length = b >= 0x80     ? base::utf8_length(text.substr(i))
                                   : is_plain(b) ? 1
                                                 : 0;
        const bool is_control = is_c1(text, i);
        if (length > 0 && !is_control) {
            i += length;
            continue;
        }
        out.append(text, done, i - done);
        if (is_control) {
            Style::c1(out, byte_at(text, ++i));
        } else if (b < 0x80) {
            Style::ascii(out, b);
        } else {
            Style::broken(out, b);
        }
        done = ++i;
    }
    out.append(text, done);
}

template <typename Style>
void append_bounded(std::string& out, std::string_view text)
{
    if (text.size() <= max_text_bytes) {
        append_run<Style>(out, text);
        return;
    }
    append_run<Style>(out, base::utf8_prefix(text, max_text_bytes));
    out += "...";
}

}  // namespace

void append_json_text(std::string& out, std::string_view text)
{
    append_bounded<json_style>(out, text);
}

void append_plain_text(std::string& out, std::string_view text)
{
    append_bounded<plain_style>(out, text);
}

void append_line_text(std::string& out, std::string_view text)
{
    append_bounded<line_style>(out, text);
}

}  // namespace gateway::telemetry
