// Whether a server is well, from what its checks said one after the other. Pure.
//
// It takes several checks in a row to change sides, so that one lost answer moves nobody's traffic.
#pragma once

#include "gateway/proxy/servers/health_options.hpp"

namespace gateway::proxy {

class health_state {
public:
    // A server is taken to be well until it has proved otherwise.
    explicit health_state(const health_options& options, bool healthy = true)
        : unhealthy_after_(options.unhealthy), healthy_after_(options.healthy), healthy_(healthy)
    {}

    bool healthy() const { return healthy_; }

    // What a check said. True if that changed healthy().
    bool checked(bool good);

    // How long to wait before the first check, anywhere in one interval, and before each other,
    // within a tenth of it. `random` in [0, 1) keeps servers and gateways from being in step.
    static base::duration first_pause(base::duration interval, double random);
    static base::duration pause(base::duration interval, double random);

private:
    int unhealthy_after_;
    int healthy_after_;
    bool healthy_;

    // Checks in a row that contradict healthy_.
    int against_ = 0;
};

}  // namespace gateway::proxy
