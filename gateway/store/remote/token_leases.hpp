// The leases of a worker on buckets in a shared store: tokens that it has taken ahead, so that what
// is asked of a hot bucket is decided here, without the store (docs/decisions/0018).
//
// A bucket of which much is asked gets a lease of as many tokens as are asked in a 32nd of the
// lease's time; never more than its share of the burst, than what comes back in its time, or than a
// quarter of what is left in the bucket. When half of it is spent the next one is asked for. No
// request waits for one: until it is there the store is asked.
//
// What is left of a lease when its time is over is given back. When somebody has given a bucket
// tokens that nobody expected, all are void: see store/remote/last_answer.hpp. A worker that has
// not heard of that tells the store which grant it knows, and the store takes nothing back.
//
// Pure: it asks through a port, and time is an argument. Memory is bounded. One thread.
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

    // On buckets of the store that answered `last`. Both must outlive it.
    token_leases(lease_port& port, const last_answer& last);

    // Whether leases have the tokens of all these charges.
    [[nodiscard]] bool cover(std::span<const charge> charges, base::instant now, belief counts)
        const;

    // Spends them; then `into` is the answer. False: nothing is spent, and `into` says nothing.
    [[nodiscard]] bool spend(
        std::span<const charge> charges, base::instant now, belief counts, answer& into
    );

    // The store is asked for these.
    void asked(std::span<const charge> charges, base::instant now);

    // The store has answered these, in a call that was sent then.
    void answered(
        std::span<const charge> charges, const answer& a, base::instant sent, base::instant now
    );

    // Somebody has given tokens: what was leased before is void.
    void forget();

    // Gives back what is over, and says when there is something again; base::instant::max(): when
    // the port is told.
    base::instant passed(base::instant now);

    // Leases nothing any more, and gives back what is left. False: not all of that has been
    // answered yet.
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
