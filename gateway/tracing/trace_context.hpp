// `trace_context` is the position of a request in its trace, and whether it is recorded. Pure.
#pragma once

#include "gateway/http/trace_parent.hpp"
#include "gateway/tracing/options.hpp"

#include <optional>
#include <string_view>

namespace gateway::tracing {

struct trace_context {
    http::trace_id trace;
    // Span of the peer that sent the request; 0: the trace begins here.
    std::uint64_t parent = 0;
    // Span of the request itself.
    std::uint64_t span = 0;
    // Span of the present attempt, which the server sees as its parent.
    std::uint64_t attempt = 0;
    // Flags of the parent, other than `sampled`.
    std::uint8_t other_flags = 0;
    // True if the request is recorded, whatever becomes of it.
    bool sampled = false;

    // Returns the value of traceparent for the server.
    http::trace_parent_text for_server() const
    {
        const std::uint8_t sampled_flag = sampled ? http::sampled_flag : 0;
        return http::make_trace_parent(
            trace, attempt, static_cast<std::uint8_t>(other_flags | sampled_flag)
        );
    }
};

// Returns the context of a request. `parent` is its valid traceparent, or empty. A parent decides
// whether the request is recorded, and otherwise its share of all traces. `random` returns random
// numbers.
template <class Random>
trace_context context_of(std::string_view parent, const sampling& rules, Random&& random)
{
    trace_context context;
    if (!parent.empty()) {
        const http::trace_parent_parts from = http::parse_trace_parent(parent);
        context.trace = from.trace;
        context.parent = from.parent;
        context.other_flags = static_cast<std::uint8_t>(from.flags & ~http::sampled_flag);
        context.sampled = (from.flags & http::sampled_flag) != 0;
    } else {
        context.trace = {random() | 1, random()};
        context.sampled = context.trace.low % sampling::all < rules.share;
    }
    context.span = random() | 1;
    context.attempt = random() | 1;
    return context;
}

// True if a request with this end is recorded.
inline bool is_recorded(
    const trace_context& context, const sampling& rules, bool rejected, bool failed
)
{
    return context.sampled || (rejected && rules.keep_rejected) || (failed && rules.keep_errors);
}

}  // namespace gateway::tracing
