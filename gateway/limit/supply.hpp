// A limit's supply of tokens at one moment, and what a bucket owes to it. Debts are counted in
// units of the supply, and a token is `unit()` of them. Each algorithm has one supply. The
// algebra (algebra.hpp) uses all supplies alike.
#pragma once

#include "gateway/limit/fixed_window.hpp"
#include "gateway/limit/in_flight.hpp"
#include "gateway/limit/sliding.hpp"
#include "gateway/limit/token_bucket.hpp"

namespace gateway::limit {

// Calls `use` with the supply of these terms.
template <typename Use>
auto with_supply(const terms& t, moment at, Use use)
{
    switch (t.how) {
        case supply_kind::fixed_window:
            return use(fixed_window_supply{t, at});
        case supply_kind::sliding:
            return use(sliding_supply{t, at});
        case supply_kind::in_flight:
            return use(in_flight_supply{t});
        case supply_kind::token_bucket:
            break;
    }
    return use(token_bucket_supply{t, at});
}

}  // namespace gateway::limit
