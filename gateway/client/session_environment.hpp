// `session_environment` is what a session and its requests need of their worker.
#pragma once

#include "gateway/http/http_date.hpp"
#include "gateway/limits/key_fetches.hpp"
#include "gateway/limits/policy_view.hpp"
#include "gateway/limits/scratch.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/telemetry/access_log.hpp"
#include "gateway/tracing/span_queue.hpp"

#include <functional>
#include <memory>

namespace gateway::limits {

class abandoned_checks;
class check_pool;
class corrections;
class fallback_debts;
class held_requests;
class permit_leases;
class recent_rejections;

}  // namespace gateway::limits

namespace gateway::client {

struct ahead_memory;
class abandoned_exchanges;
class http1_pool;
class http2_pool;
class id_source;
class session;

struct session_environment {
    net::loop& loop;
    limits::check_pool& checks;
    limits::abandoned_checks& abandoned_checks;
    limits::corrections& corrections;
    limits::fallback_debts& fallback_debts;
    limits::permit_leases& permit_leases;
    // Requests that wait for their tokens, and those that wait for keys.
    limits::held_requests& held;
    limits::held_requests& awaiting_keys;
    const limits::key_fetches& key_fetches;
    abandoned_exchanges& abandoned;
    id_source& ids;
    // Connections to lend to sessions that have something to do.
    http1_pool& spare_connections;
    // Streams to lend to HTTP/2 connections.
    http2_pool& spare_streams;
    telemetry::worker_metrics& metrics;
    limits::recent_rejections& rejections;
    telemetry::access_log& access_log;
    bool& access_log_enabled;
    // Takes the spans of requests that are recorded.
    tracing::span_queue& spans;
    // The present view.
    std::shared_ptr<const limits::policy_view>& view;

    limits::scratch& scratch;
    // Content of requests that are read ahead.
    ahead_memory& ahead;
    const http::http_date& date;
    // Called when a session has ended. It may destroy the session.
    std::function<void(session&)> ended;
};

}  // namespace gateway::client
