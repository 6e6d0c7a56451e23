// Owns every metric block, and writes them all as Prometheus text when asked.
#pragma once

#include "gateway/telemetry/figures.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gateway::telemetry {

// Label values of `reason`, in the order of the failures arrays.
struct vocabulary {
    std::span<const std::string_view> store_failures;
    std::span<const std::string_view> upstream_failures;
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

    // Asked from the next scrape on.
    void set_sources(sources others);

    // All metrics, in the Prometheus text exposition format 0.0.4.
    std::string scrape() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace gateway::telemetry
