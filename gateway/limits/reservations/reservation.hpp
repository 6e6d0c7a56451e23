// `reservation` keeps what a request has been charged, until its response reports what remains of
// it.
//
// Charges are corrected once, when the status of the response is known, whether it comes from the
// upstream or from the gateway. Limits that go by the outcome of a call of gRPC correct them when
// that has ended. If no response comes (the client has gone away), everything stays
// charged. If the request was held for its tokens and goes nowhere, everything is given back.
// Permits are released when the request is over, however it ends. Debts to a shared store that
// could not be asked wait here until the request passes.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/limit/correction.hpp"
#include "gateway/limits/policy_view.hpp"
#include "gateway/limits/reservations/permit_leases.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::limits {

class corrections;
class fallback_debts;
class request_costs;

// `reserved` holds the tokens, or the permit, taken from one bucket.
struct reserved {
    const policy::limit_rule* rule = nullptr;
    // The limit that they were taken under: the rule's, or that of the client's plan.
    const limit::limit* limit = nullptr;
    telemetry::limit_metrics* metrics = nullptr;
    std::string bucket_name{};
    std::int64_t cost = 1;
    // Cost of the request, which may be more than a bucket holds, and its part that depends on the
    // number of bytes, if that was unknown; else null.
    std::int64_t full_cost = 1;
    const policy::content_cost* by_bytes = nullptr;
    // Cost that the head of the response has stated, while its end is awaited.
    std::optional<std::int64_t> stated{};
    // Number of the permit, see store::charge; 0 for tokens.
    std::int64_t permit = 0;
    // Decision of the store.
    limit::decision decision{};
    // Moment of the taking, or an earlier one.
    base::instant taken_at{};
    // The shared store that has the bucket; null for the local store.
    store::shared_store* shared = nullptr;
    // True if the bucket is the one in the local store which clients without a slot share.
    bool is_of_shared_bucket = false;
    // Lease of a permit in a shared store, once it is kept.
    std::optional<permit_leases::handle> lease{};
};

// Returns a charge of the bucket that `r` was taken from, whose name is `bucket_name`.
// Ownership: `r.rule`, `r.limit` and `bucket_name` outlive the charge.
store::charge charge_of(const reserved& r, const std::string& bucket_name);

// Removes the settle headers of the route's limits, which were meant for the gateway, whatever was
// charged. Those that a limit keeps stay.
void take_out_settlements(
    const policy::policy& policy, const policy::route& route, http::response_head& head
);

// True if a field with this name is such a settle header, in any spelling.
bool is_hidden_settlement(
    const policy::policy& policy, const policy::route& route, std::string_view name
);

class reservation {
public:
    // Forgets everything, for a new request.
    void clear()
    {
        view_.reset();
        taken_.clear();
        owed_.clear();
    }

    // Begins with the view of the request, and keeps its policy and stores alive. `is_grpc`: the
    // request is gRPC.
    void begin(std::shared_ptr<const policy_view> view, bool is_grpc = false)
    {
        view_ = std::move(view);
        is_grpc_ = is_grpc;
    }

    void add(reserved r) { taken_.push_back(std::move(r)); }

    // True if nothing was taken that may change.
    bool empty() const { return taken_.empty(); }

    // Adds tokens that a shared store is to be charged, which could not be asked.
    void owe(reserved r) { owed_.push_back(std::move(r)); }

    // Hands the debts to `to` to be charged, as the request passes. Does nothing if it is called
    // again.
    void passes(fallback_debts& to);

    // Has the permits in shared stores renewed until they are released.
    void keep_permits(permit_leases& in);

    // Corrects the charges, as the response is this. Those that go by its end, or by the bytes of
    // the request, wait until `as` has one. If the request is gRPC, those that go by the
    // outcome of its call wait until `as` has that; of others, that does not count. If the client
    // has left, only those that go by the end are corrected. `head` is the
    // upstream's, or null. `costs` learns what the request has cost; null: nobody asks. Does
    // nothing if it is called again.
    void responded(
        const policy::response_result& as,
        const http::response_head* head,
        corrections& make,
        request_costs* costs
    );

    // Gives everything back, as the request was held and goes nowhere. `costs` is as above. Does
    // nothing if it is called again.
    void refund(corrections& make, permit_leases& in, request_costs* costs);

    // Leaves the charges as they are, as no response can change them any more.
    void keep_charges();

    bool holds_permits() const;

    // Hands the permits over, to be released when the server is done with the request. Charges
    // stay.
    reservation part_with_permits();

    // Releases the permits, as the request is over.
    void ended(corrections& make, permit_leases& in);

private:
    std::shared_ptr<const policy_view> view_;
    std::vector<reserved> taken_;
    std::vector<reserved> owed_;
    bool is_grpc_ = false;

    bool awaits_outcome(const reserved& r) const
    {
        return is_grpc_ && r.rule->outcome.reads_grpc();
    }
};

}  // namespace gateway::limits
