// `limit_draft` is a limit while it is read, and the functions here say which keys belong to which
// algorithm.
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

inline constexpr words<algorithm, 5> algorithms{
    {{"token_bucket", algorithm::token_bucket},
     {"fixed_window", algorithm::fixed_window},
     {"sliding_window", algorithm::sliding_window},
     {"sliding_log", algorithm::sliding_log},
     {"concurrency", algorithm::concurrency}}};

inline bool in_windows(const limit_draft& l)
{
    return l.written.algorithm == algorithm::fixed_window;
}

inline bool slides(const limit_draft& l)
{
    return l.written.algorithm == algorithm::sliding_window ||
           l.written.algorithm == algorithm::sliding_log;
}

inline bool counts_requests(const limit_draft& l)
{
    return l.written.algorithm == algorithm::concurrency;
}

// Returns the key that says how much a bucket holds; empty if that is the count in `rate`.
std::string_view size_key(algorithm a);

// Reports keys that the limit's algorithm does not have.
void refuse_foreign_keys(section& from, const limit_draft& l);

// Reports values that the limit's algorithm does not allow, of keys that every limit has.
void refuse_foreign_values(section& from, const limit_draft& l);

}  // namespace gateway::config
