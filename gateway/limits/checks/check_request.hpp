// `check_request` checks the limits of an HTTP request: it names the charges and has a limit check
// decide on them. Limits that need no token come first, as a token costs more to verify than all of
// the rest.
#pragma once

#include "gateway/intake/request_key.hpp"
#include "gateway/limits/checks/limit_check.hpp"

namespace gateway::limits {

// `request_check` is how far the check of a request came.
struct request_check {
    enum class state {
        // The verdict is there.
        decided,
        // The listener hears of it later, unless check.abandon() comes first.
        asked,
        // The listener awaits keys, and nothing has been charged.
        awaits_keys,
        // There are no keys to verify tokens with, and the limit needs one. Nothing has been
        // charged.
        lacks_keys,
    };
    state is = state::decided;
    // The verdict, if `decided`.
    const limits::verdict* verdict = nullptr;
    // Index of the first limit that lacks keys, if `lacks_keys`.
    std::size_t limit = 0;
};

// Puts the token of the request into `subject` if it is needed and the view has a cache of tokens.
// Requires: `view` lives until the verdict; its policy has the route.
request_check check_request(
    limit_check& check,
    const policy_view& view,
    const policy::route& route,
    intake::key_subject& subject,
    verdict_listener& listener
);

}  // namespace gateway::limits
