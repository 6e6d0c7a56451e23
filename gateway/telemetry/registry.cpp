#include "gateway/telemetry/registry.hpp"

#include "gateway/base/clock.hpp"
#include "gateway/telemetry/added_up.hpp"
#include "gateway/telemetry/exposition.hpp"
#include "gateway/telemetry/openmetrics.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <mutex>
#include <sstream>
#include <utility>

namespace gateway::telemetry {

namespace {

double unix_seconds()
{
    return std::chrono::duration<double>(base::unix_time()).count();
}

reasons copied(std::span<const std::string_view> words)
{
    const auto known = words.first(std::min(words.size(), max_failure_reasons));
    return {known.begin(), known.end()};
}

}  // namespace

struct registry::state {
    state(std::size_t count, vocabulary words, std::string version_text)
        : workers(count),
          store_failures(copied(words.store_failures)),
          upstream_failures(copied(words.upstream_failures)),
          version(std::move(version_text))
    {}

    void add_own_families(families& all) const;

    mutable std::mutex mutex;  // Guards everything but the numbers inside the blocks.
    row<worker_metrics> workers;
    table<route_metrics> routes;
    table<limit_metrics> limits;
    table<store_metrics> stores;
    table<upstream_metrics> upstreams;
    pair_table<server_metrics> servers;
    reasons store_failures;
    reasons upstream_failures;
    std::string version;
    double reloads = 0;
    double failed_reloads = 0;
    bool last_reload_succeeded = true;
    double last_success = unix_seconds();
    sources others;
};

void registry::state::add_own_families(families& all) const
{
    add_connection_families(all, workers);
    add_request_families(all, workers);
    add_tunnel_families(all, workers);
    auto& reload_results =
        all.counter("gateway_config_reloads_total", "Reloads of the configuration, by result.");
    add_row(reload_results, {{"result", "success"}}, reloads);
    add_row(reload_results, {{"result", "failure"}}, failed_reloads);
    add_row(
        all.gauge(
            "gateway_config_last_reload_success_timestamp_seconds",
            "When the configuration in force was loaded, as Unix time."
        ),
        last_success
    );
    add_row(
        all.gauge(
            "gateway_config_last_reload_successful",
            "0 after a reload was refused, until one succeeds."
        ),
        last_reload_succeeded ? 1 : 0
    );
    add_row(
        all.gauge("gateway_build_info", "Always 1; the version is a label."),
        {{"version", version}},
        1
    );
}

registry::registry(std::size_t workers, vocabulary words, std::string version)
    : state_(std::make_unique<state>(workers, words, std::move(version)))
{}

registry::~registry() = default;

worker_metrics& registry::worker(std::size_t index)
{
    return state_->workers.at(index).metrics;
}

route_metrics& registry::route(std::size_t worker, std::string_view name)
{
    const std::lock_guard lock(state_->mutex);
    return find_block(state_->routes, name, worker, state_->workers.size());
}

limit_metrics& registry::limit(std::size_t worker, std::string_view name)
{
    const std::lock_guard lock(state_->mutex);
    return find_block(state_->limits, name, worker, state_->workers.size());
}

store_metrics& registry::store(std::size_t worker, std::string_view name)
{
    const std::lock_guard lock(state_->mutex);
    return find_block(state_->stores, name, worker, state_->workers.size());
}

upstream_metrics& registry::upstream(std::size_t worker, std::string_view name)
{
    const std::lock_guard lock(state_->mutex);
    return find_block(state_->upstreams, name, worker, state_->workers.size());
}

server_metrics& registry::server(std::size_t worker, const server_name& name)
{
    const std::lock_guard lock(state_->mutex);
    return find_block(state_->servers, name, worker, state_->workers.size());
}

void registry::count_reload(bool success)
{
    const std::lock_guard lock(state_->mutex);
    state_->last_reload_succeeded = success;
    if (success) {
        ++state_->reloads;
        state_->last_success = unix_seconds();
    } else {
        ++state_->failed_reloads;
    }
}

void registry::set_sources(sources others)
{
    const std::lock_guard lock(state_->mutex);
    state_->others = std::move(others);
}

totals registry::totals() const
{
    const std::lock_guard lock(state_->mutex);
    return added_up(
        state_->workers, state_->routes, state_->limits, state_->upstreams, state_->stores
    );
}

std::string registry::scrape(exposition_format format) const
{
    families all;
    {
        const std::lock_guard lock(state_->mutex);
        add_route_families(all, state_->routes);
        add_upstream_families(all, state_->upstreams, state_->upstream_failures);
        const auto& servers = state_->others.servers;
        add_server_families(
            all, state_->servers, servers ? servers() : std::vector<server_figures>{}
        );
        add_limit_families(all, state_->limits);
        add_store_families(all, state_->stores, state_->store_failures);
        state_->add_own_families(all);
        add_source_families(all, state_->others);
    }
    add_process_metrics(all);
    if (format == exposition_format::openmetrics) {
        return to_openmetrics(all);
    }
    std::ostringstream out;
    prometheus::TextSerializer{}.Serialize(out, std::move(all).with_rows());
    return std::move(out).str();
}

}  // namespace gateway::telemetry
