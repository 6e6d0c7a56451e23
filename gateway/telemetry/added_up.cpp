#include "gateway/telemetry/added_up.hpp"

#include "gateway/telemetry/block_sums.hpp"

namespace gateway::telemetry {

namespace {

void add(const histogram& from, duration_counts& to)
{
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] += from.count(i);
    }
}

template <std::size_t Size>
void add(const std::array<counter, Size>& from, std::array<std::uint64_t, Size>& to)
{
    for (std::size_t i = 0; i < Size; ++i) {
        to[i] += from[i].value();
    }
}

store_totals of_store(const row<store_metrics>& blocks)
{
    store_totals sum{.is_up = is_up(blocks), .is_breaker_open = is_breaker_open(blocks)};
    for (const auto& b : blocks) {
        add(b.metrics.duration, sum.duration);
        add(b.metrics.failures, sum.failures);
        sum.requests += b.metrics.requests.value();
        sum.leased += b.metrics.leased_decisions.value();
        sum.remembered += b.metrics.remembered_decisions.value();
    }
    return sum;
}

connection_totals of_connections(const row<worker_metrics>& workers)
{
    connection_totals sum;
    for (const auto& b : workers) {
        sum.clients += b.metrics.clients_active.value() + b.metrics.clients_idle.value();
        sum.upstreams += b.metrics.upstreams_active.value() + b.metrics.upstreams_idle.value();
        sum.waiting += b.metrics.requests_waiting.value();
        sum.tunnels += b.metrics.tunnels.value();
    }
    return sum;
}

}  // namespace

totals added_up(
    const row<worker_metrics>& workers,
    const table<route_metrics>& routes,
    const table<limit_metrics>& limits,
    const table<upstream_metrics>& upstreams,
    const table<store_metrics>& stores
)
{
    totals all{.connections = of_connections(workers)};
    for (const auto& [name, blocks] : routes) {
        for (const auto& b : blocks) {
            add(b.metrics.duration, all.requests.duration);
            add(b.metrics.refused, all.requests.refused);
            all.requests.server_errors += b.metrics.server_errors.value();
        }
    }
    for (const auto& [name, blocks] : limits) {
        for (const auto& b : blocks) {
            add(b.metrics.decisions, all.limits[name].decisions);
        }
    }
    for (const auto& [name, blocks] : upstreams) {
        upstream_totals& sum = all.upstreams[name];
        for (const auto& b : blocks) {
            add(b.metrics.duration, sum.duration);
            add(b.metrics.failures, sum.failures);
            sum.queued += b.metrics.queued.value();
        }
    }
    for (const auto& [name, blocks] : stores) {
        if (in_use(blocks)) {
            all.stores.emplace(name, of_store(blocks));
        }
    }
    return all;
}

}  // namespace gateway::telemetry
