// What a route sets and removes of header fields.
#pragma once

#include "config/keys/keys.hpp"
#include "gateway/http/output/field_edits.hpp"

namespace gateway::config {

enum class message : unsigned char { request, response };

// The keys `set` and `remove` of a mapping for such messages.
void describe_fields(keys& k, http::field_edits& edits, message of);

}  // namespace gateway::config
