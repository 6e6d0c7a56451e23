// `abandoned_checks` keeps the checks of requests whose clients have left before the shared store
// answered. Such a request is charged as one whose client leaves later: a client that leaves at
// once must not have its limits asked for nothing. When the answer comes, a permit is released,
// tokens that the request would have waited for are refunded, and limits that go by the end of the
// response settle as for one that states nothing.
//
// The store ends each check within its timeout, and bounds their number by that of its questions.
//
// Ownership: the worker's.
// Thread: one thread only.
#pragma once

#include "gateway/limits/checks/check_pool.hpp"
#include "gateway/limits/reservations/reservation.hpp"

#include <cstdint>
#include <list>
#include <memory>

namespace gateway::limits {

class abandoned_checks {
public:
    // Ownership: all arguments outlive this object.
    abandoned_checks(check_pool& checks, corrections& make, permit_leases& leases)
        : checks_(checks), corrections_(make), permit_leases_(leases)
    {}

    // `request` has what the end of a check needs of its request.
    struct request {
        std::shared_ptr<const policy_view> view;
        const policy::route* route = nullptr;
        bool is_grpc = false;
        // Bytes of its content that came.
        std::uint64_t bytes = 0;
    };

    // Requires: the store has been asked, and has not answered yet.
    void keep(std::unique_ptr<limit_check> check, request of);

    // True if no answer is awaited.
    bool empty() const { return waiting_.empty(); }

    // Forgets those that have been answered. Called on each tick, and from no store's call: the
    // last view of a store destroys it.
    void sweep() { over_.clear(); }

private:
    class abandoned_check final : public verdict_listener {
    public:
        abandoned_check(abandoned_checks& owner, std::unique_ptr<limit_check> check, request of)
            : owner_(owner), request_(std::move(of)), check_(std::move(check))
        {}

        void decided(const verdict& v) override;

        std::list<abandoned_check>::iterator self;

    private:
        abandoned_checks& owner_;
        request request_;
        // Destroyed before the view that it reads.
        std::unique_ptr<limit_check> check_;
    };

    check_pool& checks_;
    corrections& corrections_;
    permit_leases& permit_leases_;
    std::list<abandoned_check> waiting_;
    std::list<abandoned_check> over_;
};

}  // namespace gateway::limits
