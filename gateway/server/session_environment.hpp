// What a session and its conversations need of their worker.
#pragma once

#include "gateway/http/date_line.hpp"
#include "gateway/http/message.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/server/policy_view.hpp"
#include "gateway/telemetry/access_log.hpp"

#include <functional>
#include <memory>

namespace gateway::server {

class check_pool;
class conversation_pool;
class session;

struct session_environment {
    net::loop& loop;
    check_pool& checks;
    conversation_pool& conversations;
    telemetry::worker_metrics& metrics;
    telemetry::access_log& access_log;
    bool& access_log_enabled;
    // The present view.
    std::shared_ptr<const policy_view>& view;

    http::request_head& request_head;
    http::response_head& response_head;
    const http::date_line& date;
    // Called when a session has ended; may destroy it.
    std::function<void(session&)> ended;
};

}  // namespace gateway::server
