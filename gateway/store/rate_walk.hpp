// A walk over the buckets of a shared store after a reload has changed rates: what clients owe is
// paid back at the new ones from then on, also by those who stay away.
#pragma once

#include "gateway/limit/limit.hpp"

#include <string>

namespace gateway::store {

// One of the limits that live in the store.
struct named_limit {
    std::string name;
    limit::limit limit;
};

class rate_walk {
public:
    virtual ~rate_walk() = default;

    // For ever.
    virtual void cancel() = 0;

    // Every bucket has been looked at.
    virtual bool ended() const = 0;
};

}  // namespace gateway::store
