// `health_options` says how the servers of an upstream are checked.
#pragma once

#include "gateway/base/clock.hpp"

#include <string>

namespace gateway::proxy {

struct health_options {
    // Path of the request, with a query if there is one.
    std::string path;
    // Time from the end of one check to the next.
    base::duration interval = std::chrono::seconds{5};
    // Longest time of a whole check, connecting included.
    base::duration timeout = std::chrono::seconds{1};

    // Failed checks in a row that take a server out.
    int unhealthy = 3;
    // Good checks in a row that bring it back.
    int healthy = 2;

    // The first of the statuses that are good.
    int expected_first = 200;
    // The last of the statuses that are good.
    int expected_last = 399;

    bool operator==(const health_options&) const = default;
};

}  // namespace gateway::proxy
