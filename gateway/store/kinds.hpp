// The functions here make shared stores of every kind (Redis, PostgreSQL), and what belongs to
// them.
#pragma once

#include "gateway/net/loop.hpp"
#include "gateway/store/remote/rate_walk.hpp"
#include "gateway/store/remote/upkeep.hpp"
#include "gateway/store/shared_options.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::store {

// Makes a worker's access to a store, and starts connecting. `name` is the store's name in logs.
// Thread: the worker's.
// Ownership: `metrics` outlives the loop.
std::shared_ptr<shared_store> open_store(
    net::loop& loop,
    std::string name,
    const shared_options& options,
    telemetry::store_metrics& metrics
);

// Starts the store's housekeeping. Returns null if that kind of store needs none. `name` is the
// store's name in logs.
std::shared_ptr<housekeeping> start_housekeeping(
    const net::executor& executor, const std::string& name, const shared_options& options
);

// Makes a store ready for questions, and waits until it is.
preparation prepare(const shared_options& options);

// Returns the statements that prepare() executes in an empty database. Empty: that kind of store
// needs none.
std::string preparation_script(const shared_options& options);

// Starts a walk over the store's buckets after rates have changed (store/remote/rate_walk.hpp). It
// begins when questions under the old rates have been answered, and tries again while the store
// fails. `limits` are all limits in this store, so that a later walk finishes what an earlier one
// left.
std::shared_ptr<rate_walk> walk_rates(
    const net::executor& executor,
    std::string name,
    const shared_options& options,
    const std::vector<named_limit>& limits
);

}  // namespace gateway::store
