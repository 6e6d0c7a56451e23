// Owns every metric block, and writes them all as Prometheus text when asked.
#pragma once

#include "gateway/telemetry/metrics.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gateway::telemetry {

struct vocabulary {  // label values of `reason`, in the order of the failures arrays
    std::span<const std::string_view> store_failures;
    std::span<const std::string_view> upstream_failures;
};

// Any thread may ask for a block (a lock is taken); only the worker of that index may write to it.
class registry {
public:
    registry(std::size_t workers, vocabulary words, std::string version);
    ~registry();

    worker_metrics& worker(std::size_t index);
    route_metrics& route(std::size_t worker, std::string_view name);
    limit_metrics& limit(std::size_t worker, std::string_view name);
    store_metrics& store(std::size_t worker, std::string_view name);
    upstream_metrics& upstream(std::size_t worker, std::string_view name);

    void count_reload(bool success);  // gateway_config_reloads_total, ..._last_reload_success_timestamp_seconds

    // Asked at each scrape for gateway_buckets{store="local"} and gateway_buckets_turned_away_total.
    void set_bucket_source(std::function<std::size_t()> buckets, std::function<std::uint64_t()> turned_away);

    std::string scrape() const;  // Prometheus text exposition format 0.0.4

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace gateway::telemetry
