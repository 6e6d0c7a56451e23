// What a session and its requests need of their worker.
#pragma once

#include "gateway/http/date_line.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/server/policy_view.hpp"
#include "gateway/server/scratch.hpp"
#include "gateway/telemetry/access_log.hpp"

#include <functional>
#include <memory>

namespace gateway::server {

class abandoned_exchanges;
class check_pool;
class corrections;
class fallback_debts;
class held_requests;
class http1_pool;
class id_source;
class place_leases;
class session;

struct session_environment {
    net::loop& loop;
    check_pool& checks;
    server::corrections& corrections;
    server::fallback_debts& fallback_debts;
    server::place_leases& place_leases;
    held_requests& held;
    abandoned_exchanges& abandoned;
    id_source& ids;
    // Lent to sessions that have something to do.
    http1_pool& spare_connections;
    telemetry::worker_metrics& metrics;
    telemetry::access_log& access_log;
    bool& access_log_enabled;
    // The present view.
    std::shared_ptr<const policy_view>& view;

    server::scratch& scratch;
    const http::date_line& date;
    // Called when a session has ended; may destroy it.
    std::function<void(session&)> ended;
};

}  // namespace gateway::server
