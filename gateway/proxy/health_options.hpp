// How the servers of an upstream are asked whether they are well.
#pragma once

#include "gateway/base/clock.hpp"

#include <string>

namespace gateway::proxy {

struct health_options {
    std::string path;  // of the request; also a query, if there is one
    base::duration interval = std::chrono::seconds{5};  // from one check's end to the next
    base::duration timeout = std::chrono::seconds{1};   // of a whole check, connecting included
    int unhealthy = 3;         // failed checks in a row that take a server out
    int healthy = 2;           // good ones in a row that bring it back
    int expected_first = 200;  // statuses that are good: from this
    int expected_last = 399;   // to this one
    bool operator==(const health_options&) const = default;
};

}  // namespace gateway::proxy
