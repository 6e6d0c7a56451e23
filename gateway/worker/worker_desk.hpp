// `worker_desk` is what the admin API may use of a worker.
// Thread: the worker's.
#pragma once

#include "gateway/limits/bucket_desk.hpp"
#include "gateway/limits/heavy_hitters.hpp"

namespace gateway::worker {

struct worker_desk {
    // The configuration in force.
    const limits::policy_view& view;
    limits::bucket_desk& buckets;
    limits::top_buckets& top;
    base::instant now;
};

}  // namespace gateway::worker
