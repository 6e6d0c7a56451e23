// What a request has been charged until its response says what of it remains.
//
// Corrected once: when the response's status is known, its own or the gateway's. If none comes
// (the client has gone away), everything stays charged; of a request that was held until its tokens
// come, everything is given back. Places in flight are given back when the request is over, however
// it ends. What a shared store is to hear of, as it could not be asked, waits here until the
// request passes.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/limit/correction.hpp"
#include "gateway/limits/place_leases.hpp"
#include "gateway/limits/policy_view.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::limits {

class corrections;
class fallback_debts;

// Tokens taken from one bucket.
struct reserved {
    const policy::limit_rule* rule = nullptr;
    // The one that they were taken under: the rule's, or that of the client's plan.
    const limit::limit* limit = nullptr;
    telemetry::limit_metrics* metrics = nullptr;
    std::string bucket_name{};
    std::int64_t cost = 1;
    // Not 0: a place in flight; see store::charge.
    std::int64_t place = 0;
    // What the store said of it.
    limit::decision decision{};
    // No later than they were taken.
    base::instant taken_at{};
    // Null: they were taken from the local store.
    store::shared_store* shared = nullptr;
    // Of a place in a shared store, once it is kept.
    std::optional<place_leases::handle> lease{};
};

// A charge of the bucket that it was taken from. `bucket_name`: the same, where it stays.
store::charge charge_of(const reserved& r, const std::string& bucket_name);

// Takes the headers out that were meant for us, whatever was charged.
void take_out_settlements(
    const policy::policy& policy, const policy::route& route, http::response_head& head
);

class reservation {
public:
    // Of a new request.
    void clear()
    {
        view_.reset();
        taken_.clear();
        owed_.clear();
    }

    // `view`: that of the request, whose policy and stores must stay.
    void begin(std::shared_ptr<const policy_view> view) { view_ = std::move(view); }

    void add(reserved r) { taken_.push_back(std::move(r)); }

    // Nothing was taken that may change.
    bool empty() const { return taken_.empty(); }

    // Tokens that a shared store is to hear of, which could not be asked.
    void owe(reserved r) { owed_.push_back(std::move(r)); }

    // The request passes: what it owes is to be charged. Nothing if it is called again.
    void passes(fallback_debts& to);

    // Has the places in shared stores renewed until they are given back.
    void keep_places(place_leases& in);

    // The request's response has this status; `head` is the upstream's, or null. Nothing if it is
    // called again.
    void responded(int status, http::response_head* head, corrections& make);

    // The request was held, and goes nowhere: everything is given back. Nothing if it is called
    // again.
    void give_back(corrections& make, place_leases& in);

    // There is no response whose status could change anything.
    void keep_charges();

    bool holds_places() const;

    // Hands the places over, to be given back when the server is done with the request. Charges
    // stay.
    reservation part_with_places();

    // The request is over: its places are given back.
    void ended(corrections& make, place_leases& in);

private:
    std::shared_ptr<const policy_view> view_;
    std::vector<reserved> taken_;
    std::vector<reserved> owed_;
};

}  // namespace gateway::limits
