// `candidate` is a policy with buckets of its own, which decides logged requests one after the
// other at their own moments. Routes, keys, plans, costs and limits are found and decided by the
// functions that real requests go through. Limits of shared stores are decided from local buckets,
// as one gateway alone would.
// Thread: one thread only.
#pragma once

#include "gateway/base/client_certificate.hpp"
#include "gateway/identity/web_token.hpp"
#include "gateway/limits/checks/check_request.hpp"
#include "gateway/limits/reservations/corrections.hpp"
#include "gateway/limits/reservations/permit_leases.hpp"
#include "gateway/replay/judged_routes.hpp"
#include "gateway/replay/judgement.hpp"
#include "gateway/replay/known_costs.hpp"
#include "gateway/replay/logged_content.hpp"
#include "gateway/replay/open_requests.hpp"
#include "gateway/replay/request_text.hpp"
#include "gateway/store/memory/memory_store.hpp"

#include <memory>
#include <string>

namespace gateway::replay {

struct candidate_options {
    std::shared_ptr<const policy::policy> policy;
    http::options http;
    store::memory_options local_store;
    // Most requests that wait for their tokens.
    std::size_t max_waiting = 0;
    // True if judgements have the hashes of buckets.
    bool hashes_buckets = false;
};

class candidate final : private limits::verdict_listener {
public:
    // Ownership: `wanted` outlives this object, and has the parts of the policy.
    candidate(const candidate_options& options, const wanted_parts& wanted);

    // Decides a request.
    // Requires: `r.at` is not before that of the last call.
    // Ownership: valid until the next call.
    const judgement& judge(const logged_request& r);

    const policy::policy& policy() const { return *policy_; }

    // Returns what the limit needs and a log that tells `known` does not, in words for people.
    std::string missing(std::size_t limit, part_set known) const;

    // Returns what decides between routes and a log does not tell, in words for people.
    std::string missing(const route_gap& gap) const;

    // Number of times that there was no room for a bucket.
    std::uint64_t turned_away() const { return local_.turned_away(); }

private:
    std::shared_ptr<policy::policy> policy_;
    const wanted_parts& wanted_;
    known_costs costs_;
    std::shared_ptr<const limits::policy_view> view_;
    const bool hashes_buckets_;
    telemetry::limit_metrics metrics_;

    store::memory_store local_;
    base::turn_clock clock_;
    limits::top_buckets top_;
    limits::bucket_parts parts_;
    limits::limit_check check_;
    limits::corrections corrections_;
    limits::permit_leases leases_;
    intake::intake_memory memory_;

    judged_routes routes_;
    request_text text_;
    logged_content content_;
    open_requests open_;
    // True if the host or the scheme decides between routes; the headers and members of contents
    // that do.
    bool hosts_choose_ = false;
    part_set parts_choose_ = 0;
    bool schemes_choose_ = false;

    judgement judged_;
    // Claims and certificate of the request.
    identity::verified_token token_;
    base::client_certificate certificate_;

    const policy::route* route_named(std::string_view name) const;
    route_gap gap_of(const logged_request& r, const policy::route* named) const;
    intake::arrival arrival_of(const logged_request& r, const policy::route* named);
    void read_identity(const logged_request& r, intake::key_subject& subject);
    bool has_no_cost(std::size_t limit, const intake::key_subject& subject) const;
    limits_of_route judged_limits(
        const logged_request& r, const policy::route& route, const intake::key_subject& subject
    );
    void note(const limits::verdict& v);
    void note_unjudged(const judged_route& route, const logged_request& r);
    limit_judgement& entry_of(const policy::limit_rule& rule);
    void take_up(const logged_request& r, const policy::route& route, const limits::verdict& v);

    void decided(const limits::verdict&) override {}
};

}  // namespace gateway::replay
