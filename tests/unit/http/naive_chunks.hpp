// A decoder of chunked bodies as plain as RFC 9112 §7.1 reads, to hold the streaming one against:
// it sees all the bytes at once, searches for the ends of lines, and has no bounds.
#pragma once

#include "gateway/http/chars.hpp"

#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::http::testing {

struct naive_body {
    enum class end { whole, cut_short, malformed };
    end is = end::cut_short;
    std::string content;
    std::string trailers;      // whole lines, with end::whole
    std::size_t consumed = 0;  // with end::whole
};

inline std::string_view without_leading_blanks(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text;
}

// Takes a token from the front. False: there is none.
inline bool naive_token(std::string_view& text)
{
    std::size_t size = 0;
    while (size < text.size() && is_token_char(text[size])) {
        ++size;
    }
    text.remove_prefix(size);
    return size != 0;
}

// Likewise a quoted-string.
inline bool naive_quoted_string(std::string_view& text)
{
    for (std::size_t i = 1; text.starts_with('"') && i < text.size(); ++i) {
        if (text[i] == '"') {
            text.remove_prefix(i + 1);
            return true;
        }
        i += text[i] == '\\' ? 1 : 0;
        if (i == text.size() || !is_field_text(text[i])) {
            return false;
        }
    }
    return false;
}

// *( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )
inline bool naive_extensions(std::string_view text)
{
    while (!text.empty()) {
        text = without_leading_blanks(text);
        if (!text.starts_with(';')) {
            return false;
        }
        text = without_leading_blanks(text.substr(1));
        if (!naive_token(text)) {
            return false;
        }
        const std::string_view next = without_leading_blanks(text);
        if (next.starts_with('=')) {
            text = without_leading_blanks(next.substr(1));
            if (!naive_token(text) && !naive_quoted_string(text)) {
                return false;
            }
        }
    }
    return true;
}

// 1*HEXDIG [ chunk-ext ], below 2^63.
inline bool naive_chunk_size(std::string_view line, std::uint64_t& size)
{
    std::size_t digits = 0;
    size = 0;
    while (digits < line.size() && std::isxdigit(static_cast<unsigned char>(line[digits])) != 0) {
        if (size >= (std::uint64_t{1} << 59)) {
            return false;
        }
        size = size * 16 + std::stoull(std::string(1, line[digits++]), nullptr, 16);
    }
    return digits != 0 && naive_extensions(line.substr(digits));
}

inline bool naive_trailer_line(std::string_view line)
{
    const std::size_t colon = line.find(':');
    bool plain = colon != std::string_view::npos && is_token(line.substr(0, colon));
    for (std::size_t i = 0; plain && i < line.size(); ++i) {
        plain = is_field_text(line[i]);
    }
    return plain;
}

inline naive_body naive_decode(std::string_view bytes)
{
    naive_body out;
    bool in_trailer = false;
    for (std::string_view rest = bytes; out.is == naive_body::end::cut_short;) {
        const std::size_t eol = rest.find("\r\n");
        if (eol == std::string_view::npos) {
            return out;
        }
        const std::string_view line = rest.substr(0, eol);
        rest.remove_prefix(eol + 2);
        std::uint64_t size = 0;
        if (in_trailer && line.empty()) {
            out.is = naive_body::end::whole;
            out.consumed = bytes.size() - rest.size();
        } else if (in_trailer ? !naive_trailer_line(line) : !naive_chunk_size(line, size)) {
            out.is = naive_body::end::malformed;
        } else if (in_trailer) {
            out.trailers.append(line).append("\r\n");
        } else if (size == 0) {
            in_trailer = true;
        } else {
            out.content.append(rest.substr(0, size));
            rest.remove_prefix(static_cast<std::size_t>(std::min<std::uint64_t>(size, rest.size()))
            );
            if (!rest.starts_with(std::string_view("\r\n").substr(0, rest.size()))) {
                out.is = naive_body::end::malformed;
            }
            rest.remove_prefix(std::min<std::size_t>(2, rest.size()));
        }
    }
    return out;
}

}  // namespace gateway::http::testing
