// The calls about one bucket: POST /v1/look, /v1/take, /v1/reset, /v1/grant,
// /v1/ban and /v1/unban.
#pragma once

#include "gateway/admin/admin_http.hpp"
#include "gateway/admin/bucket_asking.hpp"

#include <boost/json/value.hpp>

namespace gateway::admin {

// `peer`: who asks, for the log. `from` must live until the task has ended.
net::task<probes::control_response> answer_about_bucket(
    const admin_sources& from,
    const admin_waiting& wait,
    limits::bucket_question::kind what,
    const std::string& body,
    const std::string& peer
);

// Seconds, as all times are told here.
double in_seconds(base::duration d);

// When a ban ends that lasts for so long, since 1970; null: there is none.
boost::json::value end_of_ban(base::duration left);

// The index of the limit; nothing, and the response that says so.
std::optional<std::size_t> find_limit(
    const policy::policy& p, std::string_view name, probes::control_response& unknown
);

}  // namespace gateway::admin
