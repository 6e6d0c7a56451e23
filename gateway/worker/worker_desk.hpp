// What the admin API may ask of a worker, on the worker's thread.
#pragma once

#include "gateway/limits/bucket_desk.hpp"
#include "gateway/limits/heavy_hitters.hpp"

namespace gateway::worker {

struct worker_desk {
    // Those in force.
    const limits::policy_view& view;
    limits::bucket_desk& buckets;
    limits::top_buckets& top;
    base::instant now;
};

}  // namespace gateway::worker
