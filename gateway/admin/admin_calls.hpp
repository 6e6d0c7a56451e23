// The calls of the admin API that ask workers, each in a file of its own, and what their answers
// have in common (docs/admin-api.md).
// Ownership: all arguments outlive the tasks.
#pragma once

#include "gateway/admin/admin_http.hpp"
#include "gateway/admin/perform_operation.hpp"

#include <boost/json/value.hpp>

namespace gateway::admin {

// Answers POST /v1/look, /v1/take, /v1/reset, /v1/grant, /v1/ban and /v1/unban, which are about one
// bucket. `peer` is the caller for the log, as in admin_api::answer().
net::task<probes::control_response> answer_about_bucket(
    const admin_sources& from,
    const admin_waiting& wait,
    limits::bucket_operation::kind what,
    const std::string& body,
    const std::string& peer
);

// Answers GET /v1/bans?limit=NAME&n=20, which lists the bans in force that this gateway knows of.
// `query` comes without its '?'.
net::task<probes::control_response> answer_bans(
    const admin_sources& from, const admin_waiting& wait, std::string_view query
);

// Answers GET /v1/top?by=requests|rejections&limit=NAME&n=20, which lists the buckets with the most
// requests or the most rejections since the process began.
net::task<probes::control_response> answer_top(
    const admin_sources& from, const admin_waiting& wait, std::string_view query
);

// Answers POST /v1/explain, which tells how the gateway would decide a request. It takes and counts
// nothing.
net::task<probes::control_response> answer_explain(
    const admin_sources& from, const admin_waiting& wait, const std::string& body
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
