// What a reload that changes rates does to buckets: from then on every client pays back what it
// owes at the new rate, in memory at once, in shared stores by a walk over their keys.
// A limit with plans or shards is left out. The main thread's.
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

    // The walks over the keys of shared stores, by the store's name.
    std::map<std::string, walk_over> walks_;

    void walk(const config::settings& before, const config::settings& fresh, std::size_t store);
    void drop_walks(const config::settings& fresh);
};

}  // namespace gateway
