// What sessions and calls need of their worker, without one.
#pragma once

#include "gateway/client/carrier_pool.hpp"
#include "gateway/client/requests/abandoned_exchanges.hpp"
#include "gateway/client/requests/id_source.hpp"
#include "gateway/client/session_environment.hpp"
#include "gateway/limits/checks/abandoned_checks.hpp"
#include "gateway/limits/checks/check_pool.hpp"
#include "gateway/limits/held_requests.hpp"
#include "gateway/limits/reports/recent_rejections.hpp"
#include "gateway/limits/reservations/corrections.hpp"
#include "gateway/limits/reservations/fallback_debts.hpp"
#include "gateway/limits/reservations/permit_leases.hpp"
#include "gateway/store/memory/memory_store.hpp"
#include "gateway/telemetry/access_log.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

namespace gateway::client::testing {

struct worker_parts {
    // The access log goes to `log_fd`, which outlives this object.
    worker_parts(int log_fd, std::function<void(session&)> ended)
        : writer{telemetry::output_to(log_fd), {}}, on_end(std::move(ended))
    {}

    net::loop loop;
    // Set before the first request.
    std::shared_ptr<const limits::policy_view> view;
    telemetry::worker_metrics metrics;
    http1_pool connections;
    http2_pool streams;
    telemetry::access_log_writer writer;
    telemetry::access_log log{writer};
    bool log_enabled = true;
    tracing::span_queue spans;
    store::memory_store local{{.max_buckets = 1024}};
    limits::top_buckets top;
    limits::bucket_parts parts;
    limits::corrections corrections{local, loop.clock()};
    limits::fallback_debts debts{corrections, loop.clock()};
    limits::check_pool checks{local, loop.clock(), top, parts};
    limits::permit_leases permit_leases{loop.clock()};
    limits::abandoned_checks abandoned_checks{checks, corrections, permit_leases};
    std::atomic<std::size_t> waiting{0};
    limits::held_requests held{loop, waiting, metrics.requests_waiting};
    std::atomic<std::size_t> waiting_for_keys{0};
    limits::held_requests awaiting_keys{loop, waiting_for_keys, metrics.requests_waiting};
    limits::key_fetches key_fetches;
    id_source ids{base::unix_time(), base::now()};
    limits::scratch scratch;
    ahead_memory ahead;
    abandoned_exchanges abandoned{
        loop, corrections, permit_leases, scratch, metrics.exchanges_abandoned};
    http::http_date date{base::unix_time()};
    limits::recent_rejections rejections;
    std::function<void(session&)> on_end;
    session_environment environment{
        loop,
        checks,
        abandoned_checks,
        corrections,
        debts,
        permit_leases,
        held,
        awaiting_keys,
        key_fetches,
        abandoned,
        ids,
        connections,
        streams,
        metrics,
        rejections,
        log,
        log_enabled,
        spans,
        view,
        scratch,
        ahead,
        date,
        [this](session& s) { on_end(s); },
    };
};

}  // namespace gateway::client::testing
