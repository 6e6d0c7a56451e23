// `spans_of` makes the spans of a finished request from its record: the request itself, the
// decision of its limits, its waits, and each attempt to have a server answer it. The attributes
// follow OpenTelemetry's conventions for HTTP. No attribute has a value of the query.
#pragma once

#include "gateway/limits/request_record.hpp"
#include "gateway/tracing/span.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gateway::client {

// `kept_text` is what the record of a request lacks: texts of its head.
struct kept_text {
    std::string method;
    std::string host;
    // The request's target; its query is left out.
    std::string target;
};

// True if the gateway or a server failed to do what the request asked for.
bool has_failed(const limits::request_record& of);

// `now` is the end of the request, `to_unix` is added to a moment to make it Unix time, and
// `random` returns random numbers.
// Requires: of.trace.
std::vector<tracing::span> spans_of(
    const limits::request_record& of,
    const kept_text& text,
    base::instant now,
    base::duration to_unix,
    const std::function<std::uint64_t()>& random
);

}  // namespace gateway::client
