// GET /v1/bans?limit=NAME&n=20 lists the bans in force that this gateway knows of.
#pragma once

#include "gateway/admin/admin_buckets.hpp"

namespace gateway::admin {

// Answers the call. `query` comes without its '?'.
// Ownership: `from`, `wait` and the text of `query` outlive the task.
net::task<probes::control_response> answer_bans(
    const admin_sources& from, const admin_waiting& wait, std::string_view query
);

}  // namespace gateway::admin
