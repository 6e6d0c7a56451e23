// `store_upkeep` does what shared stores need besides decisions: housekeeping, and the conversion
// of buckets after rates have changed.
// Thread: the main thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/rate_changes.hpp"
#include "gateway/store/kinds.hpp"

#include <map>
#include <memory>
#include <string>

namespace gateway {

class store_upkeep {
public:
    store_upkeep(
        store::memory_store& local, const net::executor& executor, const config::settings& settings
    )
        : executor_(executor), rates_(local, executor)
    {
        keep(settings);
    }

    // Adapts the upkeep to the settings of a reload.
    void apply(const config::settings& before, const config::settings& fresh)
    {
        keep(fresh);
        rates_.apply(before, fresh);
    }

private:
    struct kept {
        store::shared_options options;
        // Null: that kind of store needs no housekeeping.
        std::shared_ptr<store::housekeeping> by;
    };

    net::executor executor_;
    rate_changes rates_;
    // Housekeeping of each store, by its name.
    std::map<std::string, kept> kept_;

    void keep(const config::settings& settings);
};

}  // namespace gateway
