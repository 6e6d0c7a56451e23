// GET /v1/top?by=requests|rejections&limit=NAME&n=20 lists the buckets with the most requests or
// the most rejections since the process began.
#pragma once

#include "gateway/admin/admin_buckets.hpp"

namespace gateway::admin {

// Answers the call. `query` comes without its '?'.
// Ownership: `from`, `wait` and the text of `query` outlive the task.
net::task<probes::control_response> answer_top(
    const admin_sources& from, const admin_waiting& wait, std::string_view query
);

}  // namespace gateway::admin
