// `is_trace_parent` checks and `make_trace_parent` makes values of traceparent, a field of W3C
// Trace Context (https://www.w3.org/TR/trace-context/ §3.2). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gateway::http {

// The text "00-TRACE-PARENT-FLAGS", with 32, 16 and two hexadecimal digits.
using trace_parent_text = std::array<char, 55>;

// True if the value is valid in version 00, or in a later version as far as that can be told.
bool is_trace_parent(std::string_view value);

// `trace_id` is the number of a trace, of 128 bits. It is not 0.
struct trace_id {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    bool operator==(const trace_id&) const = default;
};

// The flag by which a trace's beginning says that it is recorded.
inline constexpr std::uint8_t sampled_flag = 1;

struct trace_parent_parts {
    trace_id trace;
    std::uint64_t parent = 0;
    std::uint8_t flags = 0;
};

// Requires: is_trace_parent(value).
trace_parent_parts parse_trace_parent(std::string_view value);

// Makes a value of version 00.
trace_parent_text make_trace_parent(
    const trace_id& trace, std::uint64_t parent, std::uint8_t flags
);

// Makes the value for a new trace, which nobody has decided to record.
// Requires: the numbers are random.
trace_parent_text make_trace_parent(
    std::uint64_t trace, std::uint64_t rest_of_trace, std::uint64_t parent
);

}  // namespace gateway::http
