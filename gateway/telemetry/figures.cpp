#include "gateway/telemetry/figures.hpp"

#include <utility>

namespace gateway::telemetry {

namespace {

void add_health_families(families& all, const std::vector<server_health>& servers)
{
    auto& healthy = all.gauge(
        "gateway_upstream_server_healthy", "1 if a server passes its health checks, else 0."
    );
    auto& checks = all.counter(
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
}

void add_plan_families(families& all, const std::vector<plan_figures>& plans)
{
    auto& members = all.gauge("gateway_plan_members", "Keys and prefixes that have a plan.");
    auto& errors = all.counter(
        "gateway_plan_file_errors_total",
        "Changed plan files that could not be read, so that the old one stays in force."
    );
    auto& in_force = all.gauge(
        "gateway_plan_file_in_force",
        "1 if a plan file is in force as it is now, 0 while it was refused for an older one."
    );
    for (const plan_figures& p : plans) {
        if (p.has_file) {
            add_row(in_force, {{"plans", p.name}}, p.file_in_force ? 1 : 0);
        }
        add_row(members, {{"plans", p.name}}, static_cast<double>(p.members));
        add_row(errors, {{"plans", p.name}}, static_cast<double>(p.errors));
    }
}

void add_certificate_families(families& all, const std::vector<certificate_figures>& certificates)
{
    auto& expiry = all.gauge(
        "gateway_tls_certificate_expiry_timestamp_seconds",
        "Until when a certificate holds that others are shown, as Unix time."
    );
    for (const certificate_figures& c : certificates) {
        add_row(expiry, {{"certificate", c.name}}, static_cast<double>(c.expires.count()));
    }
}

void add_key_families(families& all, const key_fetch_figures& f)
{
    auto& fetches = all.counter(
        "gateway_jwks_fetches_total", "Fetches of the keys that verify tokens, by result."
    );
    add_row(fetches, {{"result", "success"}}, static_cast<double>(f.succeeded));
    add_row(fetches, {{"result", "failure"}}, static_cast<double>(f.failed));
}

// Adds a row, if there is a source for it.
template <typename Source>
void add_asked(prometheus::MetricFamily& family, labels names, const Source& source)
{
    if (source) {
        add_row(family, std::move(names), static_cast<double>(source()));
    }
}

}  // namespace

void add_source_families(families& all, const sources& from)
{
    if (from.health) {
        add_health_families(all, from.health());
    }
    if (from.plans) {
        add_plan_families(all, from.plans());
    }
    if (from.certificates) {
        add_certificate_families(all, from.certificates());
    }
    if (from.key_fetches) {
        if (const auto figures = from.key_fetches()) {
            add_key_families(all, *figures);
        }
    }
    add_asked(
        all.gauge("gateway_buckets", "Buckets a store holds in memory."),
        {{"store", "local"}},
        from.buckets
    );
    add_asked(
        all.counter(
            "gateway_buckets_turned_away_total",
            "Clients that found the table of buckets full, and shared one or were refused."
        ),
        {{"store", "local"}},
        from.turned_away
    );
    add_asked(
        all.counter(
            "gateway_access_log_dropped_lines_total",
            "Access log lines dropped because their reader was too slow."
        ),
        {},
        from.dropped_lines
    );
    add_asked(
        all.counter(
            "gateway_traces_dropped_total",
            "Spans of traces that were not exported: too many at once, or refused by the collector."
        ),
        {},
        from.dropped_spans
    );
}

}  // namespace gateway::telemetry
