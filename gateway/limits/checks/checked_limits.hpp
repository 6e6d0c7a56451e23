// `checked_limits` are the limits of one request while they are checked: it has their charges
// named, notes what stores decide, and makes one verdict of it.
// Ownership: a limit_check.
// Thread: one thread only.
#pragma once

#include "gateway/limits/checks/bucket_parts.hpp"
#include "gateway/limits/checks/charge_batch.hpp"
#include "gateway/limits/policy_view.hpp"
#include "gateway/limits/reports/heavy_hitters.hpp"
#include "gateway/limits/verdict.hpp"

#include <array>

namespace gateway::limits {

class checked_limits {
public:
    checked_limits(const base::turn_clock& c, top_buckets& top, bucket_parts& parts)
        : clock_(c), top_(top), parts_(parts)
    {}

    // Begins with a request that has no charges.
    // Requires: `view` lives until the verdict.
    void begin(const policy_view& view);

    intake::named_charges& charges() { return charges_; }

    // Makes the charges that were named since the last call ready for stores.
    void prepare();

    // Room for as many limits as there can be. The first ones, as many as charges were made ready,
    // are in use; each has the entry of the verdict with its index.
    std::span<checked_limit> all() { return limits_; }

    std::span<const checked_limit> all() const { return limits_; }

    limits::verdict& verdict() { return verdict_; }

    // Refuses the request because of a charge that no store decides on. It is the only one in the
    // verdict, so that the client hears of no other.
    void refuse(const intake::named_charge& c);

    // Has a request refused that the stores allow.
    void refuse_if_allowed(const intake::named_charge& c) { refused_if_allowed_ = &c; }

    // Notes the decisions of a store. `when_allowed` is what an allowed charge counts as.
    void record(const charge_batch& b, const store::answer& a, telemetry::outcome when_allowed);

    // Puts one decision of a store into the verdict. The client hears of its bucket, and nothing
    // of parts.
    void put_decision(const charge_batch& b, const store::answer& a, std::size_t i);

    // Counts what was decided, and completes the verdict.
    void finish();

private:
    // The worker's clock, counts and parts.
    const base::turn_clock& clock_;
    top_buckets& top_;
    bucket_parts& parts_;

    const policy_view* view_ = nullptr;
    intake::named_charges charges_;
    std::array<checked_limit, policy::max_limits_per_route> limits_;
    limits::verdict verdict_;
    // A charge that refuses the request after the others have been charged; null if there is none.
    const intake::named_charge* refused_if_allowed_ = nullptr;

    void choose_part(checked_limit& l, intake::named_charge& named);
};

}  // namespace gateway::limits
