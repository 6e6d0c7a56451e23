#include "gateway/readiness.hpp"

namespace gateway {

namespace {

bool is_up(telemetry::registry& metrics, std::size_t workers, const std::string& store)
{
    for (std::size_t i = 0; i < workers; ++i) {
        if (metrics.store(i, store).up.value() == 0) {
            return false;
        }
    }
    return true;
}

}  // namespace

admin::readiness readiness_of(
    const config::settings& settings,
    telemetry::registry& metrics,
    std::size_t workers,
    std::span<const telemetry::server_figures> servers,
    bool draining
)
{
    admin::readiness r;
    if (draining) {
        r.reasons.emplace_back("draining");
    }
    for (const store::named_store& store : settings.shared_stores) {
        if (!is_up(metrics, workers, store.name)) {
            r.stores_down.push_back(store.name);
        }
    }
    for (const telemetry::server_figures& s : servers) {
        if (!s.up) {
            r.servers_down.push_back(s.name);
        }
    }
    return r;
}

void add_keys(
    admin::readiness& to,
    const probes::issuer_options& options,
    const std::optional<telemetry::key_fetch_figures>& figures
)
{
    if (!figures) {
        return;
    }
    const bool none = figures->keys == 0;
    to.jwks = none ? "none" : figures->failing ? "failing" : "ok";
    if (none && options.on_no_keys == probes::issuer_options::no_keys::wait) {
        to.reasons.emplace_back("jwks: no keys have been fetched yet");
    }
}

}  // namespace gateway
