#include "gateway/http/field_parser.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"

#include <algorithm>
#include <limits>

namespace gateway::http {

namespace {

// Returns field text without the blanks around it. There is nearly always one before it and none
// behind.
std::string_view without_blanks(const char* p, const char* end)
{
    const auto is_blank_text = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    while (p != end && is_blank_text(*p)) {
        ++p;
    }
    while (p != end && is_blank_text(end[-1])) {
        --end;
    }
    return {p, end};
}

// Reads the line at `p` into `out`. On progress::complete `p` stands behind its CRLF.
progress read_line(const char*& p, const char* end, field_list& out)
{
    const char* const start = p;
    const char* q = skip_token(p, end);
    if (q == end) {
        return progress::incomplete;
    }
    if (*q != ':' || q == start) {
        return progress::malformed;
    }
    const char* const colon = q;
    q = skip_field_text(q + 1, end);
    if (end - q < 2) {
        const bool may_continue = q == end || *q == '\r';
        return may_continue ? progress::incomplete : progress::malformed;
    }
    if (q[0] != '\r' || q[1] != '\n') {
        return progress::malformed;
    }
    const std::string_view name(start, colon);
    out.push_back(
        {.id = classify(name),
         .name = name,
         .value = without_blanks(colon + 1, q),
         .line = {start, q + 2}}
    );
    p = q + 2;
    return progress::complete;
}

// True if a number's line is written in the usual way: one space before the number, nothing behind
// it, no leading zeros.
bool is_usual_line(const field& f)
{
    constexpr std::size_t around = std::string_view(": \r\n").size();
    const bool leading_zero = f.value.size() > 1 && f.value.front() == '0';
    return f.line.size() == f.name.size() + f.value.size() + around &&
           f.line[f.name.size() + 1] == ' ' && !leading_zero;
}

}  // namespace

progress read_fields(
    std::string_view bytes, std::size_t& position, std::size_t max_fields, field_list& out
)
{
    const char* p = bytes.data() + position;
    const char* const end = bytes.data() + bytes.size();
    for (std::size_t room = max_fields - std::min(out.size(), max_fields); p != end; --room) {
        if (*p == '\r') {
            if (end - p < 2) {
                return progress::incomplete;
            }
            if (p[1] != '\n') {
                return progress::malformed;
            }
            position = static_cast<std::size_t>(p + 2 - bytes.data());
            return progress::complete;
        }
        if (room == 0) {
            return progress::too_many;
        }
        const progress line = read_line(p, end, out);
        if (line != progress::complete) {
            return line;
        }
    }
    return progress::incomplete;
}

bool read_content_length(
    const field& f, std::uint64_t& length, std::optional<std::uint64_t>& respelt
)
{
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto number = base::parse_decimal(f.value, most);
    length = number.value_or(0);
    if (number && !is_usual_line(f)) {
        respelt = number;
    }
    return number.has_value();
}

void append_content_length(std::uint64_t length, std::string& out)
{
    out.append("Content-Length: ").append(std::to_string(length)).append("\r\n");
}

}  // namespace gateway::http
