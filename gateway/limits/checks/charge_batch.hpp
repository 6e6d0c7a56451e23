// `charge_batch` holds charges of one request that one store decides together, and its answer.
#pragma once

#include "gateway/intake/named_charge.hpp"
#include "gateway/limits/checks/bucket_parts.hpp"
#include "gateway/limits/reservations/reservation.hpp"
#include "gateway/store/answer.hpp"
#include "gateway/store/charge.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <array>
#include <span>

namespace gateway::limits {

// `checked_limit` is a named charge on its way to a store.
// Ownership: `named` outlives it.
struct checked_limit {
    const intake::named_charge* named = nullptr;
    telemetry::limit_metrics* metrics = nullptr;
    // The limit's numbers, or those of the part of the bucket that is charged.
    const limit::limit* charged = nullptr;
    bucket_parts::part part{};
    // Name of the bucket that is charged while the shared store fails.
    identity::bucket_name fallback_name;
    // Hash of the name without what a part adds.
    base::hash128 hash;
    // Hash of the name of the bucket that is charged.
    base::hash128 charged_hash;
    // Length of the name without what a part adds, in bytes; 0 if there is no name.
    std::size_t name_bytes = 0;

    const policy::limit_rule& rule() const { return *named->rule; }

    // True if a store is asked. Otherwise the limit would refuse the request but for its mode.
    bool is_charged() const { return named->limit != nullptr; }

    base::hashed_name charged_bucket() const { return {named->name.bytes(), charged_hash}; }

    base::hashed_name bucket() const { return {named->name.bytes().substr(0, name_bytes), hash}; }
};

// `reserving` selects what is reserved of what was taken. `permits` are those of concurrency
// limits, including those that a store may have given which has not answered. `outcomes` adds what
// a response may correct. `everything` is for a request that is held.
enum class reserving { permits, outcomes, everything };

struct charge_batch {
    std::array<store::charge, policy::max_limits_per_route> charges;
    // Index of each charge's limit among the checked ones.
    std::array<std::size_t, policy::max_limits_per_route> entry;
    std::size_t count = 0;
    store::answer given;
    // True if the store has taken the tokens of this batch. `given` is its answer then.
    bool taken = false;
    // True if the store was asked and has not answered.
    bool unanswered = false;
    // True if its buckets stand in for those of a store that fails.
    bool stands_in = false;
    // Moment of the taking, or an earlier one.
    base::instant taken_at{};

    // Adds a charge of `bucket` under the numbers `charged`.
    // Ownership: `l` and `charged` outlive the batch.
    void add(
        const checked_limit& l,
        std::size_t index,
        const base::hashed_name& bucket,
        const limit::limit& charged
    );

    std::span<const store::charge> all() const { return {charges.data(), count}; }

    void clear()
    {
        count = 0;
        taken = false;
        unanswered = false;
    }

    // Adds to `into` what was taken `from` a shared store, or from the local one if that is null.
    void reserve(
        std::span<const checked_limit> limits,
        store::shared_store* from,
        reserving what,
        reservation& into
    ) const;
};

}  // namespace gateway::limits
