// Keys by which a route sets and removes header fields.
#pragma once

#include "config/keys/keys.hpp"
#include "gateway/http/output/field_edits.hpp"

namespace gateway::config {

enum class message : unsigned char { request, response };

// Describes the keys `set` and `remove` in a mapping for requests or for responses.
void describe_fields(keys& k, http::field_edits& edits, message of);

}  // namespace gateway::config
