// `check_request` checks the limits of an HTTP request: it names the charges and has a limit check
// decide on them. Limits that need no token come first, as a token costs more to verify than all of
// the rest.
#pragma once

#include "gateway/intake/request_key.hpp"
#include "gateway/limits/limit_check.hpp"

namespace gateway::limits {

// Returns the verdict, or null if `listener` hears of it later, unless check.abandon() comes first.
// Puts the token of the request into `subject` if it is needed and the view has a cache of tokens.
// Requires: `view` lives until the verdict; its policy has the route.
const verdict* check_request(
    limit_check& check,
    const policy_view& view,
    const policy::route& route,
    intake::key_subject& subject,
    verdict_listener& listener
);

}  // namespace gateway::limits
