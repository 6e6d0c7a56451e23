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
    std::size_t consumed = 0;  // with end::whole
};

// 1*HEXDIG [ BWS ";" anything without control bytes ], below 2^63.
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
    std::string_view rest = line.substr(digits);
    if (digits == 0 || rest.empty()) {
        return digits != 0;
    }
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    bool plain = true;
    for (const char c : rest) {
        plain = plain && is_field_text(c);
    }
    return plain && rest.starts_with(';');
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
        } else if (!in_trailer && size == 0) {
            in_trailer = true;
        } else if (!in_trailer) {
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
