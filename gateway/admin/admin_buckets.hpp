// The calls on one bucket: POST /v1/look, /v1/take, /v1/reset, /v1/grant, /v1/ban and /v1/unban.
#pragma once

#include "gateway/admin/admin_http.hpp"
#include "gateway/admin/bucket_asking.hpp"

#include <boost/json/value.hpp>

namespace gateway::admin {

// Answers one of the calls. `peer` is the caller for the log, as in admin_api::answer().
// Ownership: all arguments outlive the task.
net::task<probes::control_response> answer_about_bucket(
    const admin_sources& from,
    const admin_waiting& wait,
    limits::bucket_operation::kind what,
    const std::string& body,
    const std::string& peer
);

// Returns the duration in seconds, the unit of all times in the admin API's answers. It is rounded
// up to whole microseconds.
double in_seconds(base::duration d);

// Returns the end of a ban that lasts `left` longer, in seconds since 1970, or null if there is
// none.
boost::json::value end_of_ban(base::duration left);

// Returns the index of the limit. If there is none, returns nothing and sets `unknown` to the
// response.
std::optional<std::size_t> find_limit(
    const policy::policy& p, std::string_view name, probes::control_response& unknown
);

}  // namespace gateway::admin
