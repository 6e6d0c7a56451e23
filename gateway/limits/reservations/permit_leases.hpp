// `permit_leases` renews the permits of requests in flight that a worker holds in shared stores.
// Each is leased, and renewed after every third of its lease until its request ends. A renewal that
// comes too late finds the permit gone and changes nothing.
// Thread: one thread only.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limits/policy_view.hpp"

#include <list>
#include <memory>

namespace gateway::limits {

struct reserved;

// Returns a number for store::charge::permit that no other permit has, of 53 bits.
std::int64_t fresh_permit();

class permit_leases {
    class lease;

public:
    explicit permit_leases(const base::turn_clock& c);
    ~permit_leases();

    using handle = std::list<lease>::iterator;

    // Renews the permit from now on. `r` was reserved in a shared store under the policy of `view`.
    handle keep(const std::shared_ptr<const policy_view>& view, const reserved& r);

    // Stops renewing the permit, as its request has ended.
    void end(handle of);

    // Renews the permits that are due. Called on each tick.
    void renew();

private:
    const base::turn_clock& clock_;
    std::list<lease> all_;
};

}  // namespace gateway::limits
