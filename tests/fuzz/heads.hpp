// What holds of every head that was parsed, request or response.
#pragma once

#include "gateway/http/input/request_parser.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace gateway::fuzz {

using state = http::parse_result::state;

// Undecided up to some prefix, and from there on the same answer. All prefixes of a small input,
// those around the decision of a large one.
template <typename Head, typename Parse>
void require_same_however_split(std::string_view bytes, const Parse& parse)
{
    Head whole;
    const http::parse_result end = parse(bytes, whole);
    const std::size_t step = bytes.size() / 128 + 1;
    bool decided = false;
    for (std::size_t n = 0; n <= bytes.size(); n += step) {
        const std::string copy(bytes.substr(0, n));
        Head part;
        const http::parse_result r = parse(copy, part);
        require(!decided || r.is != state::incomplete);
        decided = r.is != state::incomplete;
        require(!decided || (r.is == end.is && r.why.status == end.why.status));
        require(
            r.is != state::complete ||
            (part.size == whole.size && part.fields.size() == whole.fields.size())
        );
    }
}

inline bool is_control(char c)
{
    const auto u = static_cast<unsigned char>(c);
    return (u < 0x20 && c != '\t') || u == 0x7f;
}

// The fields are sound slices of the head, one after the other up to its end.
template <typename Head>
void require_sound_fields(std::string_view bytes, const Head& head)
{
    require(head.size <= bytes.size() && bytes.substr(0, head.size).ends_with("\r\n\r\n"));
    const char* next = head.fields.empty() ? nullptr : head.fields.front().line.data();
    for (const http::field& f : head.fields) {
        require(f.line.data() == next && f.line.ends_with("\r\n") && f.name.data() == next);
        require(!f.name.empty() && f.line[f.name.size()] == ':');
        require(std::none_of(f.value.begin(), f.value.end(), is_control));
        require(f.name.find_first_of(" \t\r\n:") == std::string_view::npos);
        next += f.line.size();
    }
    require(next == nullptr || next == bytes.data() + head.size - 2);
}

}  // namespace gateway::fuzz
