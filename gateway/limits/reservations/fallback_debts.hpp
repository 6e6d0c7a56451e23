// `fallback_debts` keeps what a worker admitted by its own share of a limit while the shared store
// failed. It charges this to the store's bucket when that can be asked again, once, and at most
// until the bucket is empty, whatever other workers and gateways charge. A fault therefore does not
// double what a client gets.
// Thread: one thread only.
#pragma once

#include "gateway/base/hash.hpp"
#include "gateway/limits/reservations/corrections.hpp"

#include <memory>
#include <unordered_map>

namespace gateway::limits {

class fallback_debts {
public:
    // Most buckets with a debt. Debts of more buckets are lost at once.
    static constexpr std::size_t max_buckets = 10'000;
    // Longest time that a debt waits to be sent. After that it is lost. Once sent, it is a
    // correction like any other.
    static constexpr base::duration kept_for = std::chrono::hours{1};

    fallback_debts(corrections& make, const base::turn_clock& c) : make_(make), clock_(c) {}

    // Adds a debt. `r` holds tokens of a bucket in a shared store, under the policy of `view`.
    void add(const std::shared_ptr<const policy_view>& view, reserved r);

    // Charges what can be charged, and drops debts that are too old. Called on each tick.
    void settle();

    // True if no debt is left.
    bool idle() const { return all_.empty(); }

    // Counts all debts as lost, when the worker ends.
    void lose_all();

private:
    // Most debts that are charged in one tick.
    static constexpr std::size_t at_once = 256;

    struct debt {
        std::shared_ptr<const policy_view> view;
        reserved of;
    };

    corrections& make_;
    const base::turn_clock& clock_;

    // Debts by the hashes of their buckets' names.
    std::unordered_map<base::hash128, debt, base::hash128_hash> all_;

    static void lose(const debt& d) { d.of.metrics->corrections_lost.add(); }
};

}  // namespace gateway::limits
