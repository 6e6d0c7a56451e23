// `health_state` tells whether a server is healthy, from the results of its checks. It is pure.
//
// Several checks in a row must agree to change it, so that one lost answer moves nobody's traffic.
#pragma once

#include "gateway/proxy/servers/health_options.hpp"

namespace gateway::proxy {

class health_state {
public:
    // A server is taken to be healthy until it has proved otherwise.
    explicit health_state(const health_options& options, bool healthy = true)
        : unhealthy_after_(options.unhealthy), healthy_after_(options.healthy), healthy_(healthy)
    {}

    bool healthy() const { return healthy_; }

    // Records the result of a check. Returns true if that changed healthy().
    bool checked(bool good);

    // Returns the time before the first check, anywhere in one interval, or before any other, one
    // interval give or take a tenth. `random` in [0, 1) keeps servers and gateways out of step.
    static base::duration first_pause(base::duration interval, double random);
    static base::duration pause(base::duration interval, double random);

private:
    int unhealthy_after_;
    int healthy_after_;
    bool healthy_;

    // Number of checks in a row that contradict healthy_.
    int against_ = 0;
};

}  // namespace gateway::proxy
