// `registry` owns every metric block and writes all of them as Prometheus text.
#pragma once

#include "gateway/telemetry/figures.hpp"
#include "gateway/telemetry/history/totals.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gateway::telemetry {

// Values of the label `reason`, in the order of the `failures` arrays.
struct vocabulary {
    std::span<const std::string_view> store_failures;
    std::span<const std::string_view> upstream_failures;
};

// `exposition_format` is that of Prometheus 0.0.4 or of OpenMetrics 1.0, which has exemplars.
enum class exposition_format { prometheus, openmetrics };

// Any thread may ask for a block, which takes a lock. Only the worker of that index may write to
// it. scrape() calls the sources on its own thread.
// Requires: sources stay callable as long as the registry lives.
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

    // Counts a reload for gateway_config_reloads_total and gateway_config_last_reload_successful,
    // and on success sets the timestamp of the last one. The start counts as a success, but not as
    // a reload.
    void count_reload(bool success);

    // Sets the sources of the next and later scrapes.
    void set_sources(sources others);

    // Returns what was counted so far. Calls no source.
    telemetry::totals totals() const;

    // Returns all metrics as text.
    std::string scrape(exposition_format format = exposition_format::prometheus) const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace gateway::telemetry
