// Key `penalty` of a limit: the ban that many rejections lead to.
#pragma once

#include "config/limits/limit_draft.hpp"

namespace gateway::config {

void describe_penalty(keys& limit, limit_draft& l);

}  // namespace gateway::config
