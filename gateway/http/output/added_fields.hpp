// `added_fields` are the fields that the gateway adds to each response of a request, as names and
// values, and the form of its own errors. The protocol of the client decides how they are written.
#pragma once

#include "gateway/http/output/error_body.hpp"
#include "gateway/http/output/field_edits.hpp"
#include "gateway/http/output/limit_headers.hpp"

#include <string_view>

namespace gateway::http {

struct added_fields {
    // The report of limits. It may replace the upstream's X-RateLimit fields.
    limit_statement limits{};
    // The value of Date, for a response that has none (RFC 9110 §6.6.1); empty for none.
    std::string_view date{};
    // The value of X-Request-Id, or empty for none. The upstream's is never passed on.
    std::string_view request_id{};
    // The route's changes to fields, or null for none.
    const field_edits* edits = nullptr;
    // The form of errors that the gateway makes itself.
    error_style errors{};
};

// `named_value` is one more field; an empty name for none.
struct named_value {
    std::string_view name{};
    std::string_view value{};
};

}  // namespace gateway::http
