// The limits of one request: asked where their buckets live, and made one verdict.
//
//   1. limits that need no token are looked at before the request's token is verified, which costs
//      more than all of this: in the local store, and in what the shared one said before. If they
//      reject the request, that is the verdict, and nobody knows whose it is. A request that the
//      others refuse for a forged token is charged to these all the same
//   2. what the shared store said before may reject the request; then the local store is only
//      looked at, so that the client is told of every limit in its way that is known here
//   3. the local store decides and takes. If it rejects, the shared store is not asked
//   4. what was taken ahead from the shared store is spent, if it is enough for all its limits
//   5. else the store is asked once for all of them; a rejection gives the local tokens back
//   6. if it fails, each limit's on_store_failure says what that means
//
// So a rejected request is charged to none of its limits, wherever they live. While the shared
// store is asked, tokens are held in the local one only: nothing has ever to be given back over a
// network.
//
// One thread. Owned by a check_pool, lent to an admitter until the verdict has been read.
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

// Who waits for a verdict that could not be had at once.
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

    // Returns the verdict, or null: `listener` hears of it later, unless abandon() comes first.
    // Puts the token of the request into `subject` if it is needed.
    // Requires: `view` lives until then.
    const verdict* start(
        const policy_view& view,
        const policy::route& route,
        intake::key_subject& subject,
        verdict_listener& listener
    );

    // Gives up waiting: the listener hears nothing. If the store had been asked, what it charges
    // stays charged.
    void abandon() { abandon_question(); }

    // What of that which was taken is to be reserved: places in flight, which a store that has not
    // answered may have given, too; of a request that is answered also what its response may
    // correct; of one that is held everything.
    enum class reserving { places, outcomes, everything };
    void reserve(const policy_view& view, reserving what, reservation& into) const;

    // What a request that passes took of this gateway's share of a limit, whose store is to hear of
    // it. Not what its response may change: what of it stays charged is known here only.
    void owe(const std::shared_ptr<const policy_view>& view, reservation& into) const;

    // The bucket of entry i of the verdict in the store of its limit, whoever decided instead.
    std::string_view bucket_name(std::size_t i) const
    {
        return items_[i].name.bytes().substr(0, items_[i].name_bytes);
    }

private:
    struct item {
        const policy::limit_rule* rule = nullptr;
        // The rule's, or that of the client's plan. Null: it would be refused but for the mode, and
        // no store is asked.
        const limit::limit* limit = nullptr;
        // The same, or that of the part of the bucket that is charged.
        const limit::limit* charged = nullptr;
        bucket_parts::part part{};
        telemetry::limit_metrics* metrics = nullptr;
        identity::bucket_name name;
        // Tokens of this request.
        std::int64_t cost = 1;
        // Of the bucket that is charged while the shared store fails.
        identity::bucket_name fallback_name;
        // Of the name without what a part adds.
        base::hash128 hash;
        // Of the name of the bucket that is charged.
        base::hash128 charged_hash;
        // Length of the name without what a part adds, in bytes; 0: there is none.
        std::size_t name_bytes = 0;
    };

    // Charges for one store, and which entries of the verdict they are for.
    struct batch {
        std::array<store::charge, policy::max_limits_per_route> charges;
        std::array<std::size_t, policy::max_limits_per_route> entry;
        std::size_t count = 0;
        store::answer given;
        // Whether the store has taken the tokens of this batch; then `given` is its answer.
        bool taken = false;
        // Whether the store was asked, and has not answered.
        bool unanswered = false;
        // No later than that.
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
    // That of the worker.
    const base::turn_clock& clock_;
    // These are the worker's, too.
    top_buckets& top_;
    bucket_parts& parts_;

    verdict_listener* listener_ = nullptr;
    verdict verdict_;
    std::array<item, policy::max_limits_per_route> items_;
    // Charges for the local store.
    batch at_home_;
    // Charges for the shared store.
    batch elsewhere_;
    // Charges of a failed store's limits that are decided locally meanwhile.
    batch fallback_;
    // The store that gave no answer may have charged them all the same.
    bool may_be_charged_ = false;

    // The limit that refuses the request for its forged token; null: none does.
    const policy::limit_rule* forged_token_limit_ = nullptr;

    // What it means for a request that a limit cannot be applied to it.
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
