#include "gateway/http/trace_parent.hpp"

#include "gateway/base/hex.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

bool is_hex(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
}

// True if the text is an id in hexadecimal. All zeros are no id.
bool is_id(std::string_view text)
{
    return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

std::uint64_t number_of(std::string_view digits)
{
    std::uint64_t number = 0;
    for (const char c : digits) {
        number = number << 4 | static_cast<std::uint64_t>(base::hex_digit(c));
    }
    return number;
}

}  // namespace

bool is_trace_parent(std::string_view value)
{
    constexpr std::size_t size = trace_parent_text{}.size();
    if (value.size() < size || value[2] != '-' || value[35] != '-' || value[52] != '-') {
        return false;
    }
    const std::string_view version = value.substr(0, 2);
    const bool ends = value.size() == size || (version != "00" && value[size] == '-');
    return ends && is_hex(version) && version != "ff" && is_id(value.substr(3, 32)) &&
           is_id(value.substr(36, 16)) && is_hex(value.substr(53, 2));
}

trace_parent_parts parse_trace_parent(std::string_view value)
{
    return {
        {number_of(value.substr(3, 16)), number_of(value.substr(19, 16))},
        number_of(value.substr(36, 16)),
        static_cast<std::uint8_t>(number_of(value.substr(53, 2)))};
}

trace_parent_text make_trace_parent(const trace_id& trace, std::uint64_t parent, std::uint8_t flags)
{
    trace_parent_text text{'0', '0', '-'};
    char* to = base::write_hex(trace.high, 16, text.data() + 3);
    to = base::write_hex(trace.low, 16, to);
    *to++ = '-';
    to = base::write_hex(parent, 16, to);
    *to++ = '-';
    base::write_hex(flags, 2, to);
    return text;
}

trace_parent_text make_trace_parent(
    std::uint64_t trace, std::uint64_t rest_of_trace, std::uint64_t parent
)
{
    return make_trace_parent({trace | 1, rest_of_trace}, parent | 1, 0);
}

}  // namespace gateway::http
