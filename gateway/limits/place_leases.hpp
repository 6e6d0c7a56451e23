// Places of requests in flight that a worker holds in shared stores: each is leased, and renewed
// at a third of its lease until its request ends. A renewal that comes too late finds the place
// gone and changes nothing. One thread.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limits/policy_view.hpp"

#include <list>
#include <memory>

namespace gateway::limits {

struct reserved;

// What store::charge::place wants: a number that no other place has, of 53 bits.
std::int64_t fresh_place();

class place_leases {
    class lease;

public:
    explicit place_leases(const base::turn_clock& c);
    ~place_leases();

    using handle = std::list<lease>::iterator;

    // From now on the place is renewed. `r` was reserved in a shared store under the policy of that
    // view.
    handle keep(const std::shared_ptr<const policy_view>& view, const reserved& r);

    // Its request has ended.
    void end(handle of);

    // Called from each tick.
    void renew();

private:
    const base::turn_clock& clock_;
    std::list<lease> all_;
};

}  // namespace gateway::limits
