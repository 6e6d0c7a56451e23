// `token_leases` holds a worker's leases on buckets in a shared store: tokens taken ahead, so that
// requests for a hot bucket are decided here, without the store (docs/decisions/0018).
//
// A bucket in demand gets a lease of as many tokens as are asked in a 32nd of the lease's time, but
// never more than its share of the burst, than what comes back in its time, or than a quarter of
// what is left in the bucket. When half of it is spent the next one is asked for. No request waits
// for a lease: until it is there the store is asked.
//
// The rest of a lease is given back when its time is over. When somebody has given a bucket tokens
// that nobody expected, all leases are void: see store/remote/last_answer.hpp. A worker that does
// not know that yet sends the store the grant epoch that it knows, and the store takes nothing
// back.
//
// Pure: it asks through a port, and time is an argument. Memory is bounded.
// Thread: one.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/hash.hpp"
#include "gateway/store/remote/last_answer.hpp"
#include "gateway/store/remote/leased_bucket.hpp"
#include "gateway/store/remote/token_demand.hpp"
#include "gateway/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace gateway::store {

class token_leases {
public:
    // Most buckets with leases.
    static constexpr std::size_t max_buckets = 1024;

    // Leases tokens of buckets in the store that answered `last`.
    // Ownership: `port` and `last` outlive this object.
    token_leases(lease_port& port, const last_answer& last);

    // True if leases have the tokens of all these charges.
    [[nodiscard]] bool cover(std::span<const charge> charges, base::instant now, belief counts)
        const;

    // Spends these tokens, with the answer in `into`. Otherwise returns false, spends nothing, and
    // leaves `into` without meaning.
    [[nodiscard]] bool spend(
        std::span<const charge> charges, base::instant now, belief counts, answer& into
    );

    // Counts charges for which the store is asked.
    void asked(std::span<const charge> charges, base::instant now);

    // Takes the store's answer to these charges, in a call that left at time `sent`.
    void answered(
        std::span<const charge> charges, const answer& a, base::instant sent, base::instant now
    );

    // Drops all leases, as somebody has given tokens.
    void forget();

    // Gives back what is left of leases that are over. Returns when the next one is over, or
    // base::instant::max() if the port will be notified.
    base::instant passed(base::instant now);

    // Ends all leases, and gives back what is left. Returns false until all of that has been
    // answered.
    [[nodiscard]] bool end(base::instant now);

private:
    lease_port& port_;
    const last_answer& last_;
    token_demand demand_;
    std::unordered_map<base::hash128, leased_bucket, base::hash128_hash> buckets_;
    bool ended_ = false;

    leased_bucket* find(const charge& c);
    const leased_bucket* find(const charge& c) const;
    leased_bucket* make(const charge& c, base::instant now);
    void forget_idle_ones(base::instant now);
    std::int64_t demand_of(const charge& c, std::int64_t tokens, base::instant now);
};

}  // namespace gateway::store
