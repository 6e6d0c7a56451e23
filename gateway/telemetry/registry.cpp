#include "gateway/telemetry/registry.hpp"

#include "gateway/base/clock.hpp"
#include "gateway/telemetry/exposition.hpp"
#include "gateway/telemetry/process_metrics.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <mutex>
#include <sstream>
#include <utility>

namespace gateway::telemetry {

namespace {

void add_health_families(families& all, const std::vector<server_health>& servers)
{
    auto healthy = gauge_family(
        "gateway_upstream_server_healthy", "1 if a server passes its health checks, else 0."
    );
    auto checks = counter_family(
        "gateway_upstream_health_checks_total", "Health checks of a server, by result."
    );
    for (const server_health& s : servers) {
        const labels names{{"upstream", s.upstream}, {"server", s.server}};
        add_row(healthy, names, s.healthy ? 1 : 0);
        for (const auto& [result, count] :
             {std::pair{"success", s.good}, std::pair{"failure", s.failed}}) {
            labels with_result = names;
            with_result.push_back({"result", result});
            add_row(checks, std::move(with_result), static_cast<double>(count));
        }
    }
    add_family(all, std::move(healthy));
    add_family(all, std::move(checks));
}

void add_plan_families(families& all, const std::vector<plan_figures>& plans)
{
    auto members = gauge_family("gateway_plan_members", "Keys and prefixes that have a plan.");
    auto errors = counter_family(
        "gateway_plan_file_errors_total",
        "Changed plan files that could not be read, so that the old one stays in force."
    );
    for (const plan_figures& p : plans) {
        add_row(members, {{"plans", p.name}}, static_cast<double>(p.members));
        add_row(errors, {{"plans", p.name}}, static_cast<double>(p.errors));
    }
    add_family(all, std::move(members));
    add_family(all, std::move(errors));
}

void add_certificate_families(families& all, const std::vector<certificate_figures>& certificates)
{
    auto expiry = gauge_family(
        "gateway_tls_certificate_expiry_timestamp_seconds",
        "Until when a certificate holds that others are shown, as Unix time."
    );
    for (const certificate_figures& c : certificates) {
        add_row(expiry, {{"certificate", c.name}}, static_cast<double>(c.expires.count()));
    }
    add_family(all, std::move(expiry));
}

void add_single(families& all, prometheus::MetricFamily family, labels names, double value)
{
    add_row(family, std::move(names), value);
    add_family(all, std::move(family));
}

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

    mutable std::mutex mutex;  // over everything but the numbers inside the blocks
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
    std::function<std::vector<server_figures>()> server_source;
    std::function<std::size_t()> buckets;
    std::function<std::uint64_t()> turned_away;
    std::function<std::uint64_t()> dropped_lines;
    std::function<std::vector<server_health>()> health;
    std::function<std::vector<plan_figures>()> plans;
    std::function<std::vector<certificate_figures>()> certificates;
};

void registry::state::add_own_families(families& all) const
{
    add_connection_families(all, workers);
    add_tunnel_families(all, workers);
    auto reload_results =
        counter_family("gateway_config_reloads_total", "Reloads of the configuration, by result.");
    add_row(reload_results, {{"result", "success"}}, reloads);
    add_row(reload_results, {{"result", "failure"}}, failed_reloads);
    add_family(all, std::move(reload_results));
    add_single(
        all,
        gauge_family(
            "gateway_config_last_reload_success_timestamp_seconds",
            "When the configuration in force was loaded, as Unix time."
        ),
        {},
        last_success
    );
    add_single(
        all,
        gauge_family(
            "gateway_config_last_reload_successful",
            "0 after a reload was refused, until one succeeds."
        ),
        {},
        last_reload_succeeded ? 1 : 0
    );
    add_single(
        all,
        gauge_family("gateway_build_info", "Always 1; the version is a label."),
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

void registry::set_bucket_source(
    std::function<std::size_t()> buckets, std::function<std::uint64_t()> turned_away
)
{
    const std::lock_guard lock(state_->mutex);
    state_->buckets = std::move(buckets);
    state_->turned_away = std::move(turned_away);
}

void registry::set_server_source(std::function<std::vector<server_figures>()> servers)
{
    const std::lock_guard lock(state_->mutex);
    state_->server_source = std::move(servers);
}

void registry::set_dropped_lines_source(std::function<std::uint64_t()> dropped_lines)
{
    const std::lock_guard lock(state_->mutex);
    state_->dropped_lines = std::move(dropped_lines);
}

void registry::set_health_source(std::function<std::vector<server_health>()> health)
{
    const std::lock_guard lock(state_->mutex);
    state_->health = std::move(health);
}

void registry::set_plan_source(std::function<std::vector<plan_figures>()> plans)
{
    const std::lock_guard lock(state_->mutex);
    state_->plans = std::move(plans);
}

void registry::set_certificate_source(std::function<std::vector<certificate_figures>()> certificates
)
{
    const std::lock_guard lock(state_->mutex);
    state_->certificates = std::move(certificates);
}

std::string registry::scrape() const
{
    families all;
    {
        const std::lock_guard lock(state_->mutex);
        add_route_families(all, state_->routes);
        add_upstream_families(all, state_->upstreams, state_->upstream_failures);
        add_server_families(
            all,
            state_->servers,
            state_->server_source ? state_->server_source() : std::vector<server_figures>{}
        );
        add_limit_families(all, state_->limits);
        if (state_->health) {
            add_health_families(all, state_->health());
        }
        if (state_->plans) {
            add_plan_families(all, state_->plans());
        }
        if (state_->certificates) {
            add_certificate_families(all, state_->certificates());
        }
        add_store_families(all, state_->stores, state_->store_failures);
        state_->add_own_families(all);
        if (state_->buckets) {
            add_single(
                all,
                gauge_family("gateway_buckets", "Buckets a store holds in memory."),
                {{"store", "local"}},
                static_cast<double>(state_->buckets())
            );
        }
        if (state_->turned_away) {
            add_single(
                all,
                counter_family(
                    "gateway_buckets_turned_away_total",
                    "Clients that found the table of buckets full, and shared one or were refused."
                ),
                {{"store", "local"}},
                static_cast<double>(state_->turned_away())
            );
        }
        if (state_->dropped_lines) {
            add_single(
                all,
                counter_family(
                    "gateway_access_log_dropped_lines_total",
                    "Access log lines dropped because their reader was too slow."
                ),
                {},
                static_cast<double>(state_->dropped_lines())
            );
        }
    }
    add_process_metrics(all);
    std::ostringstream out;
    prometheus::TextSerializer{}.Serialize(out, all);
    return std::move(out).str();
}

}  // namespace gateway::telemetry
