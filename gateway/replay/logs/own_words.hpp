// Functions that say what words of the gateway's own log mean. Pure.
#pragma once

#include "gateway/replay/logs/logged_request.hpp"

#include <string_view>

namespace gateway::replay {

// Returns the verdict of limits, of which the one that decided had this outcome.
inline logged_request::verdict verdict_of_outcome(std::string_view outcome)
{
    const bool refuses =
        outcome == "rejected" || outcome == "blocked" || outcome == "failed_closed";
    return refuses ? logged_request::verdict::rejected : logged_request::verdict::allowed;
}

// True if the gateway refused the request before its limits were asked, as it was malformed, say.
// One that no route matched may have a route in another configuration, and one whose upstream
// failed had a route without limits.
inline bool is_refused_early(const logged_request& of, bool has_decided, bool has_error)
{
    const bool undecided = !has_decided && of.was == logged_request::verdict::unknown;
    const bool may_be_judged = of.status == 404 || of.status == 502 || of.status == 504;
    return undecided && has_error && of.status >= 400 && !may_be_judged;
}

}  // namespace gateway::replay
