// shards: buckets that are split in parts.
#pragma once

#include "config/limits/limit_draft.hpp"

namespace gateway::config {

// After the keys that it is checked against; the plans of the limit come later.
void describe_shards(keys& limit, limit_draft& l);

// Splits the numbers, of the limit or of a plan, as the limit's key says.
void split_in_shards(section& from, limit_draft& l);

}  // namespace gateway::config
