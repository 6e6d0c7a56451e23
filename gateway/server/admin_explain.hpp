// POST /v1/explain: what would become of a request. Nothing is taken and nothing counted.
#pragma once

#include "gateway/server/admin_buckets.hpp"

namespace gateway::server {

// `from` and `body` must live until the task has ended.
net::task<control_response> answer_explain(
    const admin_sources& from, const admin_waiting& wait, const std::string& body
);

}  // namespace gateway::server
