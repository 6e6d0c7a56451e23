// The field traceparent of W3C Trace Context (https://www.w3.org/TR/trace-context/ §3.2). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gateway::http {

// "00-TRACE-PARENT-FLAGS", with 32, 16 and two hexadecimal digits.
using trace_parent_text = std::array<char, 55>;

// Of version 00, or of a later one as far as that can be told.
bool is_trace_parent(std::string_view value);

// Of a trace that begins, which nobody has decided to record. The numbers are random.
trace_parent_text make_trace_parent(
    std::uint64_t trace, std::uint64_t rest_of_trace, std::uint64_t parent
);

}  // namespace gateway::http
