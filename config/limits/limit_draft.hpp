// `limit_draft` is a limit while it is read.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"

namespace gateway::config {

struct limit_draft {
    policy::limit_rule rule;
    written_limit written;
    // False after a problem, or while there is no rate yet.
    bool has_rate = false;
    // Most tokens in a bucket: the count of the rate unless the file says another.
    std::int64_t burst = 1;
    // True if these are the numbers of a plan, whose mapping has few of the limit's keys.
    bool of_plan = false;
};

}  // namespace gateway::config
