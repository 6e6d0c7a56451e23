// GET /v1/top?by=requests|rejections&limit=NAME&n=20: the buckets that ask most, or are rejected
// most, since the process began.
#pragma once

#include "gateway/server/admin_buckets.hpp"

namespace gateway::server {

// `from` and `query`, without its '?', must live until the task has ended.
net::task<control_response> answer_top(
    const admin_sources& from, const admin_waiting& wait, std::string_view query
);

}  // namespace gateway::server
