// Algorithms of limits, and which keys belong to which.
#pragma once

#include "config/limits/limit_draft.hpp"

namespace gateway::config {

inline constexpr words<algorithm, 5> algorithms{{
    {"token_bucket", algorithm::token_bucket},
    {"fixed_window", algorithm::fixed_window},
    {"sliding_window", algorithm::sliding_window},
    {"sliding_log", algorithm::sliding_log},
    {"concurrency", algorithm::concurrency},
}};

inline bool in_windows(const limit_draft& l)
{
    return l.written.algorithm == algorithm::fixed_window;
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
