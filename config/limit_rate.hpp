// What a limit gives, and when: its algorithm, rate, and what a bucket holds.
#pragma once

#include "config/draft.hpp"
#include "config/keys.hpp"

namespace gateway::config {

// A limit while it is read.
struct limit_draft {
    policy::limit_rule rule;
    written_limit written;
    // False after a problem, or while there is no rate yet.
    bool has_rate = false;
    // Most tokens in a bucket: the count of the rate unless the file says another.
    std::int64_t burst = 1;
};

void describe_rate(keys& limit, limit_draft& l, draft& d);

}  // namespace gateway::config
