// `suggest` finds the smallest rate and burst that would have rejected no more than an operator
// accepts, for one limit and the requests that it judged.
#pragma once

#include "gateway/policy/limit_rule.hpp"
#include "gateway/replay/arrivals.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gateway::replay {

// `accepted_loss` is what may be rejected: shares of all, from 0 to 1. One of the two at least is
// set, and both hold.
struct accepted_loss {
    std::optional<double> requests{};
    std::optional<double> clients{};

    bool any() const { return requests || clients; }
};

struct suggested_numbers {
    std::string rate;
    double per_second = 0;
    std::int64_t burst = 1;
    // Shares of the requests and of the clients that would have been rejected.
    double requests = 0;
    double clients = 0;
};

struct suggestion {
    suggested_numbers best;
    // For a token bucket, pairs that reject no more than is accepted, the smallest burst first: no
    // pair with both numbers smaller would do. For other kinds of limits, counts around the best
    // one, with what they reject.
    std::vector<suggested_numbers> curve;
    // Keys of the limit that change what it rejects, and that the numbers leave out.
    std::vector<std::string> without{};
};

// Returns nothing, and sets `complaint` to the reason, if the limit counts requests in flight, if
// there are no arrivals, if they cannot be sorted, or if no rate rejects as little as is accepted.
std::optional<suggestion> suggest(
    const policy::limit_rule& rule,
    arrivals& from,
    const accepted_loss& accepted,
    std::string& complaint
);

}  // namespace gateway::replay
