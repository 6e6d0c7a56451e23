// `limit_check` has the named charges of one request decided where their buckets live, and makes
// one verdict of the decisions. It knows nothing of the protocol that the request came by.
//
//   1. The first charges of a request, which cost little to name, may reject it before the others
//      are named (reject_already): in the local store, and by earlier answers of the shared one.
//   2. Earlier answers of the shared store may reject the request. The local store is then only
//      looked at, so that the response reports every limit in its way that is known here.
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

#include "gateway/limits/checks/local_decisions.hpp"

namespace gateway::limits {

// `verdict_listener` waits for a verdict that could not be had at once.
class verdict_listener {
public:
    virtual void decided(const verdict& v) = 0;

    // Called if the request's token names a key that is not known. Returns true if the request
    // waits for a fetch of keys, after which it is admitted anew.
    virtual bool awaits_keys() { return false; }

protected:
    ~verdict_listener() = default;
};

class limit_check final : private store::question {
public:
    limit_check(
        store::memory_store& local, const base::turn_clock& c, top_buckets& top, bucket_parts& parts
    )
        : clock_(c), limits_(c, top, parts), local_(local, c, limits_)
    {
        fallback_.stands_in = true;
    }

    // Begins with the next request. Returns its charges, to be named before the other calls.
    // Requires: `view` lives until the verdict.
    intake::named_charges& begin(const policy_view& view);

    // Lets the charges that are named so far reject the request. Returns the verdict, or null if
    // they do not; nothing is taken then, and more charges may be named.
    const verdict* reject_already();

    // Decides on the charges. Returns the verdict, or null if `listener` hears of it later, unless
    // abandon() comes first.
    const verdict* decide(verdict_listener& listener);

    // Refuses the request because of a charge that needs no bucket to do so, and charges nothing.
    // Requires: charge.refuses().
    const verdict& refuse(const intake::named_charge& charge);

    // Has decide() refuse the request because of `charge` if the others allow it. They are charged
    // all the same.
    void refuse_if_allowed(const intake::named_charge& charge)
    {
        limits_.refuse_if_allowed(charge);
    }

    // Reports the verdict to another listener.
    // Requires: the verdict is awaited.
    void report_to(verdict_listener& other) { listener_ = &other; }

    // Gives up waiting: the listener hears nothing. If the store had been asked, what it charges
    // stays charged.
    void abandon() { abandon_question(); }

    // Adds to `into` what the request has taken that may still change.
    void reserve(reserving what, reservation& into) const;

    // Adds to `into` what a request that passes took of this gateway's share of a limit, to be
    // charged to the store later. Charges that its response may change are left out, as only this
    // gateway knows what of them stays.
    void owe(const std::shared_ptr<const policy_view>& view, reservation& into) const;

    // Returns the bucket of the verdict's entry `i` in the store of its limit, whichever store
    // decided.
    std::string_view bucket_name(std::size_t i) const { return limits_.all()[i].bucket().bytes(); }

private:
    const base::turn_clock& clock_;
    const policy_view* view_ = nullptr;
    checked_limits limits_;
    local_decisions local_;
    verdict_listener* listener_ = nullptr;

    // Charges for the local store.
    charge_batch at_home_;
    // Charges for the shared store.
    charge_batch elsewhere_;
    // Charges for limits of a failed store that are decided locally meanwhile.
    charge_batch fallback_;
    // True if the store that gave no answer may have charged the request all the same.
    bool may_be_charged_ = false;

    store::shared_store* gather();
    bool recall(const store::shared_store& shared);
    bool take_leased(store::shared_store& shared);
    const verdict* finish();

    // Functions that apply each limit's on_store_failure.
    bool settle(std::size_t i);
    void settle_failure();
    void settle_unknown();

    void answered(const store::answer& a) override;
    void failed(store::failure why, store::taken tokens) override;
};

}  // namespace gateway::limits
