// What the admin API may ask of a worker, on the worker's thread.
#pragma once

#include "gateway/server/bucket_desk.hpp"
#include "gateway/server/heavy_hitters.hpp"

namespace gateway::server {

struct worker_desk {
    // Those in force.
    const policy_view& view;
    bucket_desk& buckets;
    top_buckets& top;
    base::instant now;
};

}  // namespace gateway::server
