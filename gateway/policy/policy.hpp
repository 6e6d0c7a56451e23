// What applies, as one immutable snapshot: a reload swaps the whole of it.
#pragma once

#include "gateway/identity/client_address.hpp"
#include "gateway/policy/limit_rule.hpp"
#include "gateway/policy/matcher.hpp"
#include "gateway/policy/plan_section.hpp"
#include "gateway/policy/route.hpp"
#include "gateway/policy/token_rule.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gateway::policy {

// Which limit headers responses on limited routes get.
struct header_options {
    bool x_ratelimit = true;
    enum class reset_form { delta, epoch } reset = reset_form::delta;
    bool ratelimit = false;
};

struct policy {
    identity::client_options client;
    // Nothing: no key asks for a token.
    std::optional<token_rule> token;
    // Names of the shared stores.
    std::vector<std::string> stores;

    std::vector<plan_section> plans;
    std::vector<limit_rule> limits;
    std::vector<route> routes;
    // Names of the upstreams.
    std::vector<std::string> upstreams;

    header_options headers;
    // Built from `routes`, which must not change afterwards.
    matcher find_route;
    // False: no route, plan or key asks for a request's host.
    bool reads_hosts = true;

    // Fills in what follows from the rest; the last step of making one.
    void finish();
};

}  // namespace gateway::policy
