// `worker_access` is what the admin API may use of a worker.
// Thread: the worker's.
#pragma once

#include "gateway/limits/bucket_operations.hpp"
#include "gateway/limits/reports/heavy_hitters.hpp"
#include "gateway/limits/reports/recent_rejections.hpp"

namespace gateway::worker {

struct worker_access {
    // The configuration in force.
    const limits::policy_view& view;
    limits::bucket_operations& buckets;
    limits::top_buckets& top;
    const limits::recent_rejections& rejections;
    base::instant now;
};

}  // namespace gateway::worker
