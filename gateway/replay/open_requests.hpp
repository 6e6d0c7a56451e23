// `open_requests` keeps what allowed requests have taken and may still change, until the log says
// that they were over: permits in flight, and charges that a response corrects.
// Thread: one thread only.
#pragma once

#include "gateway/limits/reservations/corrections.hpp"
#include "gateway/limits/reservations/reservation.hpp"

#include <functional>
#include <map>
#include <queue>
#include <string>
#include <vector>

namespace gateway::replay {

// `request_end` is how a request ended.
struct request_end {
    // Its response, of which a call of gRPC may lack the outcome. A status of 0: there was none, or
    // none that counts.
    policy::response_result response{};
    // True if it was held for its tokens and its client left before they came.
    bool left = false;

    // `settled_cost` is a field of the response which states what the request has cost.
    // Ownership: the policy has the name.
    struct settled_cost {
        std::string_view name;
        std::string tokens;
    };

    std::vector<settled_cost> settled{};
};

class open_requests {
public:
    // Most requests that are open. Beyond it, the one that ends first ends at once.
    static constexpr std::size_t most = 1'000'000;

    // Ownership: all arguments outlive this object.
    open_requests(base::turn_clock& c, limits::corrections& make, limits::permit_leases& leases)
        : clock_(c), corrections_(make), leases_(leases)
    {}

    void add(base::instant ends_at, limits::reservation taken, request_end how);

    // Ends the requests that are over by then, each at its moment, and sets the clock to `now`.
    void move_to(base::instant now);

    // Counts a request that waits for its tokens until then. Returns false if `most` wait already.
    bool hold(base::instant until, std::size_t most_waiting);

private:
    struct open_request {
        limits::reservation taken;
        request_end how;
    };

    base::turn_clock& clock_;
    limits::corrections& corrections_;
    limits::permit_leases& leases_;
    std::multimap<base::instant, open_request> open_;
    // Ends of waits, the soonest on top.
    std::priority_queue<base::instant, std::vector<base::instant>, std::greater<>> waits_;

    void end_first();
};

}  // namespace gateway::replay
