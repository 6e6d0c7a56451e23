// GET /v1/top?by=requests|rejections&limit=NAME&n=20: the buckets that ask most, or are rejected
// most, since the process began.
#pragma once

#include "gateway/admin/admin_buckets.hpp"

namespace gateway::admin {

// `from` and `query`, without its '?', must live until the task has ended.
net::task<probes::control_response> answer_top(
    const admin_sources& from, const admin_waiting& wait, std::string_view query
);

}  // namespace gateway::admin
