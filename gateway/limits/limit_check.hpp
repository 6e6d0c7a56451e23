// `limit_check` asks about the limits of one request where their buckets live, and makes one
// verdict of the decisions.
//
//   1. Limits that need no token are looked at before the request's token is verified, which costs
//      more than all of this. They are looked at in the local store, and in earlier answers of the
//      shared one. If they reject the request, that is the verdict, and nobody knows whose request
//      it is. A request that the others refuse for a forged token is charged to these all the same.
//   2. Earlier answers of the shared store may reject the request. The local store is then only
//      looked at, so that the client is told of every limit in its way that is known here.
//   3. The local store decides and takes. Its rejection spares the question to the shared store.
//   4. Tokens taken ahead from the shared store are spent, if they are enough for all its limits.
//   5. Otherwise the shared store is asked once for all of them. The local tokens are refunded if
//      it rejects.
//   6. Each limit's on_store_failure says what a failure of the shared store means.
//
// A rejected request is therefore charged to none of its limits, wherever they live. While the
// shared store is asked, tokens are held in the local one only, so nothing ever has to be refunded
// over a network.
//
// Ownership: a check_pool owns it, and lends it to an admitter until the verdict has been read.
// Thread: one thread only.
#pragma once

#include "gateway/identity/bucket_name.hpp"
#include "gateway/intake/request_key.hpp"
#include "gateway/limits/bucket_parts.hpp"
#include "gateway/limits/heavy_hitters.hpp"
#include "gateway/limits/policy_view.hpp"
#include "gateway/limits/reservation.hpp"
#include "gateway/limits/verdict.hpp"
#include "gateway/store/memory/memory_store.hpp"

#include <array>

namespace gateway::limits {

// `verdict_listener` waits for a verdict that could not be had at once.
class verdict_listener {
public:
    virtual void decided(const verdict& v) = 0;

protected:
    ~verdict_listener() = default;
};

class limit_check final : private store::question {
public:
    limit_check(
        store::memory_store& local, const base::turn_clock& c, top_buckets& top, bucket_parts& parts
    )
        : local_(local), clock_(c), top_(top), parts_(parts)
    {}

    // Returns the verdict, or null if `listener` hears of it later, unless abandon() comes first.
    // Puts the token of the request into `subject` if it is needed.
    // Requires: `view` lives until the verdict.
    const verdict* start(
        const policy_view& view,
        const policy::route& route,
        intake::key_subject& subject,
        verdict_listener& listener
    );

    // Gives up waiting: the listener hears nothing. If the store had been asked, what it charges
    // stays charged.
    void abandon() { abandon_question(); }

    // `reserving` selects what is reserved of what was taken. `places` are the permits of
    // concurrency limits, including those that a store may have given which has not answered.
    // `outcomes` adds what a response may correct. `everything` is for a request that is held.
    enum class reserving { places, outcomes, everything };
    void reserve(const policy_view& view, reserving what, reservation& into) const;

    // Adds to `into` what a request that passes took of this gateway's share of a limit, to be
    // charged to the store later. Charges that its response may change are left out, as only this
    // gateway knows what of them stays.
    void owe(const std::shared_ptr<const policy_view>& view, reservation& into) const;

    // Returns the bucket of the verdict's entry `i` in the store of its limit, whichever store
    // decided.
    std::string_view bucket_name(std::size_t i) const
    {
        return items_[i].name.bytes().substr(0, items_[i].name_bytes);
    }

private:
    struct item {
        const policy::limit_rule* rule = nullptr;
        // The rule's limit, or that of the client's plan. Null if the limit would refuse the
        // request but for its mode; no store is asked then.
        const limit::limit* limit = nullptr;
        // The same limit, or that of the part of the bucket that is charged.
        const limit::limit* charged = nullptr;
        bucket_parts::part part{};
        telemetry::limit_metrics* metrics = nullptr;
        identity::bucket_name name;
        // Tokens that this request costs.
        std::int64_t cost = 1;
        // Name of the bucket that is charged while the shared store fails.
        identity::bucket_name fallback_name;
        // Hash of the name without what a part adds.
        base::hash128 hash;
        // Hash of the name of the bucket that is charged.
        base::hash128 charged_hash;
        // Length of the name without what a part adds, in bytes; 0 if there is no name.
        std::size_t name_bytes = 0;
    };

    // `batch` holds charges for one store, and which entries of the verdict they are for.
    struct batch {
        std::array<store::charge, policy::max_limits_per_route> charges;
        std::array<std::size_t, policy::max_limits_per_route> entry;
        std::size_t count = 0;
        store::answer given;
        // True if the store has taken the tokens of this batch. `given` is its answer then.
        bool taken = false;
        // True if the store was asked and has not answered.
        bool unanswered = false;
        // Moment of the taking, or an earlier one.
        base::instant taken_at{};

        void add(
            const item& i,
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
    };

    store::memory_store& local_;
    // The worker's clock, counts and parts.
    const base::turn_clock& clock_;
    top_buckets& top_;
    bucket_parts& parts_;

    verdict_listener* listener_ = nullptr;
    verdict verdict_;
    std::array<item, policy::max_limits_per_route> items_;
    // Charges for the local store.
    batch at_home_;
    // Charges for the shared store.
    batch elsewhere_;
    // Charges for limits of a failed store that are decided locally meanwhile.
    batch fallback_;
    // True if the store that gave no answer may have charged the request all the same.
    bool may_be_charged_ = false;

    // The limit that refuses the request for its forged token; null if none does.
    const policy::limit_rule* forged_token_limit_ = nullptr;

    // Functions that decide what it means for a request that a limit cannot be applied to it.
    void refuse(const policy::limit_rule& by, verdict::ruling why);
    bool refuses(const item& i, verdict::ruling why);
    bool refuses(const item& i, const intake::key_fault& fault);
    bool blocks(item& i, const intake::key_subject& subject);
    intake::key_result name_bucket(item& i, const intake::key_subject& subject);
    bool collect_one(const intake::key_subject& subject, item& i);
    bool collect(
        const policy_view& view,
        std::span<const std::size_t> limits,
        const intake::key_subject& subject
    );
    bool charge_forged_token(
        const policy_view& view,
        std::span<const std::size_t> limits,
        const intake::key_subject& subject
    );
    void choose_part(item& i);
    void put_decision(const batch& b, const store::answer& a, std::size_t i);
    store::shared_store* gather(const policy_view& view);
    bool rejects_without_token(const policy_view& view);
    bool recall(const store::shared_store& shared);
    bool take_leased(store::shared_store& shared);
    bool decide_locally(store::intent what, batch& b, telemetry::outcome when_allowed);
    bool decide_without_room(store::intent what, batch& b, telemetry::outcome when_allowed);
    void record(const batch& b, const store::answer& a, telemetry::outcome when_allowed);
    void reserve(const batch& b, store::shared_store* from, reserving what, reservation& into)
        const;
    void give_back(batch& b);
    bool settle(std::size_t i);
    void settle_failure();
    void settle_unknown();
    void finish();

    void answered(const store::answer& a) override;
    void failed(store::failure why, store::taken tokens) override;
};

}  // namespace gateway::limits
