// POST /v1/explain tells how the gateway would decide a request. It takes and counts nothing.
#pragma once

#include "gateway/admin/admin_buckets.hpp"

namespace gateway::admin {

// Answers the call.
// Ownership: all arguments outlive the task.
net::task<probes::control_response> answer_explain(
    const admin_sources& from, const admin_waiting& wait, const std::string& body
);

}  // namespace gateway::admin
