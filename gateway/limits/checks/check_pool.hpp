// `check_pool` lends limit checks to requests and keeps those that no request needs. One per
// worker.
#pragma once

#include "gateway/limits/checks/limit_check.hpp"
#include "gateway/limits/spares.hpp"

#include <memory>

namespace gateway::limits {

class check_pool {
public:
    check_pool(
        store::memory_store& local, const base::turn_clock& c, top_buckets& top, bucket_parts& parts
    )
        : local_(local), clock_(c), top_(top), parts_(parts)
    {}

    std::unique_ptr<limit_check> borrow()
    {
        return spares_.borrow([this] {
            return std::make_unique<limit_check>(local_, clock_, top_, parts_);
        });
    }

    void take_back(std::unique_ptr<limit_check> check) { spares_.take_back(std::move(check)); }

    // Destroys spare checks beyond a bound. Called on each tick.
    void trim() { spares_.trim(); }

private:
    store::memory_store& local_;
    const base::turn_clock& clock_;
    top_buckets& top_;
    bucket_parts& parts_;
    // Checks that can be borrowed, about 3 KiB each.
    spares<limit_check> spares_;
};

}  // namespace gateway::limits
