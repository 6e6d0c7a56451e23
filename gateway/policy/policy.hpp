// `policy` holds all that applies to requests, as one immutable snapshot. A reload replaces the
// whole.
#pragma once

#include "gateway/content/json_paths.hpp"
#include "gateway/identity/client_address.hpp"
#include "gateway/policy/limit_rule.hpp"
#include "gateway/policy/log_field.hpp"
#include "gateway/policy/matcher.hpp"
#include "gateway/policy/plan_section.hpp"
#include "gateway/policy/rate_limit_service.hpp"
#include "gateway/policy/route.hpp"
#include "gateway/policy/token_rule.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gateway::policy {

// The limit headers that responses on limited routes get.
struct header_options {
    bool x_ratelimit = true;
    enum class reset_form { delta, epoch } reset = reset_form::delta;
    bool ratelimit = false;
};

struct policy {
    identity::client_options client;
    // Rules for tokens. Nothing: no key and no plan needs a token.
    std::optional<token_rule> token;
    // Names of the shared stores.
    std::vector<std::string> stores;

    std::vector<plan_section> plans;
    std::vector<limit_rule> limits;
    std::vector<route> routes;
    // The services that Envoy asks, on listeners of their own.
    std::vector<rate_limit_service> services{};
    // Names of the upstreams.
    std::vector<std::string> upstreams;

    header_options headers;
    // Parts of requests for the access log, at most max_log_fields.
    std::vector<log_field> log_fields{};
    // True if one of them is a claim of a token.
    bool logs_claims = false;
    // Built from `routes`, which must not change afterwards.
    matcher find_route;
    // True if a route, plan or key depends on a request's host.
    bool reads_hosts = true;
    // Members of contents on which routes, keys, plans and costs depend, and those of responses
    // that state a cost.
    content::json_paths request_paths{};
    // Those by which routes are chosen.
    content::path_set route_paths = 0;
    content::json_paths response_paths{};
    // Names of the headers that routes, keys, plans, costs and tokens depend on, in lower case.
    std::vector<std::string> read_headers{};

    // Positions in the key of a limit, as bits, whose values may have been secrets under an earlier
    // policy of this process. Names of buckets outlive a reload. By the name of the limit.
    std::map<std::string, std::uint32_t, std::less<>> former_secrets{};

    // Notes the secrets of the policy that was in force before.
    void note_former_secrets(const policy& before);

    // Fills in what follows from the other members, as the last step of making a policy.
    void finish();

private:
    void number_paths();
    // Notes which fields report these limits to the clients of a route.
    void note_reported(const std::vector<std::size_t>& from, route& of) const;
};

}  // namespace gateway::policy
