// What a worker admitted by its own share of a limit while the shared store failed. It is charged
// to the store's bucket when that can be asked again, once, and until it is empty at most, whatever
// other workers and gateways charge: so a fault does not double what a client gets. One thread.
#pragma once

#include "gateway/base/hash.hpp"
#include "gateway/limits/corrections.hpp"

#include <memory>
#include <unordered_map>

namespace gateway::limits {

class fallback_debts {
public:
    // More are lost at once.
    static constexpr std::size_t max_buckets = 10'000;
    // A debt that could not be sent for so long is lost. Once sent, it is a correction like any
    // other.
    static constexpr base::duration kept_for = std::chrono::hours{1};

    fallback_debts(corrections& make, const base::turn_clock& c) : make_(make), clock_(c) {}

    // `r`: tokens of a bucket in a shared store, under the policy of that view.
    void add(const std::shared_ptr<const policy_view>& view, reserved r);

    // Charges what can be charged. Called from each tick.
    void settle();

    // Whether nothing is to be charged.
    bool idle() const { return all_.empty(); }

    // The worker ends: what has not been charged is lost.
    void lose_all();

private:
    // As many as a tick may ask for.
    static constexpr std::size_t at_once = 256;

    struct debt {
        std::shared_ptr<const policy_view> view;
        reserved of;
    };

    corrections& make_;
    const base::turn_clock& clock_;

    // By the hashes of buckets' names.
    std::unordered_map<base::hash128, debt, base::hash128_hash> all_;

    static void lose(const debt& d) { d.of.metrics->corrections_lost.add(); }
};

}  // namespace gateway::limits
