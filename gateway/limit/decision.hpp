// What one limit said about one request, in units a person reads. Plain value.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>

namespace gateway::limit {

struct decision {
    bool allowed = false;
    // Rejected whatever is in the bucket, until `retry_after` has passed.
    bool banned = false;
    // Whole tokens left.
    std::int64_t remaining = 0;
    // Time until the same request would pass; when allowed, how long it has to wait.
    base::duration retry_after{0};
    // Time until the bucket is full.
    base::duration reset_after{0};
};

}  // namespace gateway::limit
