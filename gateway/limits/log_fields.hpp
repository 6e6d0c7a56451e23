// `read_log_fields` reads the parts of a request that the operator wants in the access log.
#pragma once

#include "gateway/intake/request_key.hpp"
#include "gateway/policy/log_field.hpp"
#include "gateway/telemetry/access_log.hpp"

#include <span>
#include <vector>

namespace gateway::limits {

// Most bytes of a value; the rest is cut off.
inline constexpr std::size_t max_log_field_bytes = 256;

// Adds the values that the request has. A part that is missing or ambiguous is left out, as is a
// claim of a token that was not verified.
// Ownership: the names in `out` belong to `fields`.
void read_log_fields(
    std::span<const policy::log_field> fields,
    const intake::key_subject& subject,
    std::vector<telemetry::field_value>& out
);

}  // namespace gateway::limits
