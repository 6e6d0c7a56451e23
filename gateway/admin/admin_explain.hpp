// POST /v1/explain: what would become of a request. Nothing is taken and nothing counted.
#pragma once

#include "gateway/admin/admin_buckets.hpp"

namespace gateway::admin {

// `from` and `body` must live until the task has ended.
net::task<probes::control_response> answer_explain(
    const admin_sources& from, const admin_waiting& wait, const std::string& body
);

}  // namespace gateway::admin
