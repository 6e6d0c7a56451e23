// What one limit said about one request, in units a person reads. Plain value.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>

namespace gateway::limit {

struct decision {
    bool allowed = false;
    std::int64_t remaining = 0;     // whole tokens left
    base::duration retry_after{0};  // until the same request would pass; zero when allowed
    base::duration reset_after{0};  // until the bucket is full
};

}  // namespace gateway::limit
