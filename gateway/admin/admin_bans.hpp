// GET /v1/bans?limit=NAME&n=20: the bans in force that this gateway knows of.
#pragma once

#include "gateway/admin/admin_buckets.hpp"

namespace gateway::admin {

// `from` and `query`, without its '?', must live until the task has ended.
net::task<probes::control_response> answer_bans(
    const admin_sources& from, const admin_waiting& wait, std::string_view query
);

}  // namespace gateway::admin
