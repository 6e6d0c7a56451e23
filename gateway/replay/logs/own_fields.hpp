// Functions that say what fields of the gateway's own log mean. Pure.
#pragma once

#include "gateway/replay/logs/logged_request.hpp"

#include <string_view>

namespace gateway::replay {

// Returns the verdict of limits, of which the one that decided had this outcome.
inline verdict verdict_of_outcome(std::string_view outcome)
{
    const bool refuses =
        outcome == "rejected" || outcome == "blocked" || outcome == "failed_closed";
    return refuses ? verdict::rejected : verdict::allowed;
}

// `own_fields` are fields of a line that say what became of the request.
struct own_fields {
    bool has_decided = false;
    bool has_upstream = false;
    bool has_server = false;
    // Reason why the gateway answered itself; empty: it did not.
    std::string_view error{};
};

// True if the gateway refused the request before its limits were asked, as it was malformed, say.
// One that no route matched may have a route in another configuration, and one whose upstream
// failed had a route without limits.
inline bool is_refused_early(const logged_request& of, const own_fields& fields)
{
    const bool undecided = !fields.has_decided && of.was == verdict::unjudged;
    const bool may_be_judged = of.status == 404 || of.status == 502 || of.status == 504;
    return undecided && !fields.error.empty() && of.status >= 400 && !may_be_judged;
}

// True if a limit refused the request because of its key or its cost.
inline bool is_refused_by_limit(const logged_request& of, const own_fields& fields)
{
    return fields.has_decided && of.was == verdict::unjudged && !of.limit.empty() &&
           of.status == 400 && !fields.error.empty();
}

// Notes what the fields say. A request whose key was missing is decided again. One whose key had
// two values, or whose cost was no number, is not: the log leaves such values out, as if there had
// been none. A listener that only decides names the upstream of the route, and asks no server.
inline void note_own_fields(const own_fields& fields, logged_request& out)
{
    constexpr std::string_view missing = ", which identifies the client, is missing";
    constexpr std::string_view service = "rate_limit_service:";
    out.asked_by_envoy = out.route.starts_with(service);
    out.decided_only = out.was == verdict::allowed && fields.has_decided && fields.has_upstream &&
                       !fields.has_server && fields.error.empty() && out.status != client_left;
    out.refused_early = out.refused_early || is_refused_early(out, fields);
    if (is_refused_by_limit(out, fields)) {
        const bool is_missing = fields.error.find(missing) != std::string_view::npos;
        out.refused_early = out.refused_early || !is_missing;
        out.was = verdict::rejected;
    }
}

}  // namespace gateway::replay
