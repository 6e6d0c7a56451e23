// Key `shards` of a limit: buckets that are split in parts.
#pragma once

#include "config/limits/limit_draft.hpp"

namespace gateway::config {

// Requires: the keys that it is checked against have been described, and the limit's plans have
// not.
void describe_shards(keys& limit, limit_draft& l);

// Splits the numbers of the limit, or of a plan, as the limit's key says.
void split_in_shards(section& from, limit_draft& l);

}  // namespace gateway::config
