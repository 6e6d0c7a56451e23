// What applies, as one immutable snapshot: a reload swaps the whole of it.
#pragma once

#include "gateway/identity/client_address.hpp"
#include "gateway/policy/limit_rule.hpp"
#include "gateway/policy/matcher.hpp"
#include "gateway/policy/route.hpp"

#include <string>
#include <vector>

namespace gateway::policy {

struct header_options {  // of responses on limited routes
    bool x_ratelimit = true;
    enum class reset_form { delta, epoch } reset = reset_form::delta;
    bool ratelimit = false;
};

struct policy {
    identity::client_options client;
    std::vector<std::string> stores;  // names of the shared ones
    std::vector<limit_rule> limits;
    std::vector<route> routes;
    std::vector<std::string> upstreams;  // names
    header_options headers;
    matcher find_route;       // built from `routes`, which must not change afterwards
    bool reads_hosts = true;  // false: no route and no key asks for a request's host

    // Fills in what follows from the rest; the last step of making one.
    void finish();
};

}  // namespace gateway::policy
