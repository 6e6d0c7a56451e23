// Makes shared stores of every kind.
#pragma once

#include "gateway/net/loop.hpp"
#include "gateway/store/remote/housekeeping.hpp"
#include "gateway/store/remote/preparation.hpp"
#include "gateway/store/remote/rate_walk.hpp"
#include "gateway/store/shared_options.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::store {

// Starts connecting. One per worker, on its thread. `name` is what logs call it; `metrics` must
// outlive the loop.
std::shared_ptr<shared_store> open_store(
    net::loop& loop,
    std::string name,
    const shared_options& options,
    telemetry::store_metrics& metrics
);

// Null: that kind of store needs none. `name` is what logs call it.
std::shared_ptr<housekeeping> keep_house(
    const net::executor& executor, const std::string& name, const shared_options& options
);

// Makes a store ready to be asked, and waits until it is.
preparation prepare(const shared_options& options);

// Returns the statements that prepare() executes where nothing is there yet; empty: that kind of
// store needs none.
std::string preparation_script(const shared_options& options);

// Begins when questions in the old terms have been answered. `limits` are all those that live in
// this store, so that a later walk does what is left of an earlier one, too. Tries again while the
// store fails.
std::shared_ptr<rate_walk> walk_rates(
    const net::executor& executor,
    std::string name,
    const shared_options& options,
    const std::vector<named_limit>& limits
);

}  // namespace gateway::store
