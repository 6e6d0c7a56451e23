// `rate_changes` applies the changed rates of a reload to buckets. Every client then pays its debt
// at the new rate: in memory at once, in shared stores by a walk over their keys. Limits with plans
// or shards are left out.
// Thread: the main thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/store/kinds.hpp"
#include "gateway/store/memory/memory_store.hpp"

#include <map>
#include <memory>
#include <string>

namespace gateway {

class rate_changes {
public:
    rate_changes(store::memory_store& local, net::executor executor)
        : local_(local), executor_(std::move(executor))
    {}

    void apply(const config::settings& before, const config::settings& fresh);

private:
    store::memory_store& local_;
    net::executor executor_;

    struct walk_over {
        store::shared_options options;
        std::shared_ptr<store::rate_walk> walk;
    };

    // Walks over the keys of shared stores, by the store's name.
    std::map<std::string, walk_over> walks_;

    void walk(const config::settings& before, const config::settings& fresh, std::size_t store);
    void drop_walks(const config::settings& fresh);
};

}  // namespace gateway
