// Owns every metric block, and writes them all as Prometheus text when asked.
#pragma once

#include "gateway/telemetry/metrics.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::telemetry {

// Label values of `reason`, in the order of the failures arrays.
struct vocabulary {
    std::span<const std::string_view> store_failures;
    std::span<const std::string_view> upstream_failures;
};

// What active checks say of one server.
struct server_health {
    std::string upstream;
    std::string server;
    bool healthy = true;
    std::uint64_t good = 0;
    std::uint64_t failed = 0;
};

// Of one section of `plans`.
struct plan_figures {
    std::string name;
    std::size_t members = 0;
    // Changed files that could not be read.
    std::uint64_t errors = 0;
};

// Of a certificate that a listener shows.
struct certificate_figures {
    // Its file.
    std::string name;
    // Until when it holds, since 1970.
    std::chrono::seconds expires{};
};

// Any thread may ask for a block (a lock is taken); only the worker of that index may write to it.
// Sources are called by scrape() on its thread, and must stay callable as long as the registry
// lives.
class registry {
public:
    registry(std::size_t workers, vocabulary words, std::string version);
    ~registry();

    worker_metrics& worker(std::size_t index);
    route_metrics& route(std::size_t worker, std::string_view name);
    limit_metrics& limit(std::size_t worker, std::string_view name);
    store_metrics& store(std::size_t worker, std::string_view name);
    upstream_metrics& upstream(std::size_t worker, std::string_view name);
    server_metrics& server(std::size_t worker, const server_name& name);

    // gateway_config_reloads_total and gateway_config_last_reload_successful, and on success the
    // timestamp of the last one. The start counts as a success, but not as a reload.
    void count_reload(bool success);

    // Asked at each scrape for gateway_buckets{store="local"} and
    // gateway_buckets_turned_away_total.
    void set_bucket_source(
        std::function<std::size_t()> buckets, std::function<std::uint64_t()> turned_away
    );

    // Asked at each scrape for gateway_access_log_dropped_lines_total.
    void set_dropped_lines_source(std::function<std::uint64_t()> dropped_lines);

    // Asked at each scrape for what the workers know of servers together. Those it does not name
    // have left the configuration: only their counters stay.
    void set_server_source(std::function<std::vector<server_figures>()> servers);
    // Asked at each scrape for gateway_upstream_server_healthy and
    // gateway_upstream_health_checks_total.
    void set_health_source(std::function<std::vector<server_health>()> health);

    // Asked at each scrape for gateway_plan_members and gateway_plan_file_errors_total.
    void set_plan_source(std::function<std::vector<plan_figures>()> plans);

    // Asked at each scrape for gateway_tls_certificate_expiry_timestamp_seconds.
    void set_certificate_source(std::function<std::vector<certificate_figures>()> certificates);

    // All metrics, in the Prometheus text exposition format 0.0.4.
    std::string scrape() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace gateway::telemetry
