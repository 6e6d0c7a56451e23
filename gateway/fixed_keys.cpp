#include "gateway/fixed_keys.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gateway {

namespace {

bool same_but_for_tls(
    std::vector<client::listener_options> running, std::vector<client::listener_options> fresh
)
{
    for (auto* const listeners : {&running, &fresh}) {
        for (client::listener_options& one : *listeners) {
            one.tls.reset();
        }
    }
    return running == fresh;
}

bool same_but_for_hosts(client::admin_options running, const client::admin_options& fresh)
{
    running.hosts = fresh.hosts;
    return running == fresh;
}

bool has_service(const config::settings& s, const std::string& name)
{
    const auto& services = s.policy->services;
    return std::any_of(services.begin(), services.end(), [&name](const auto& one) {
        return one.name == name;
    });
}

// Takes over the changes to TLS, as nothing else of a listener may change. Listeners of one
// address, which only port 0 allows, are matched in the order of the file.
void keep_listeners(
    std::vector<client::listener_options> fresh, std::vector<client::listener_options>& kept
)
{
    for (client::listener_options& one : kept) {
        const auto same = std::find_if(fresh.begin(), fresh.end(), [&one](const auto& other) {
            return other.address == one.address;
        });
        if (same != fresh.end()) {
            one.tls = std::move(same->tls);
            fresh.erase(same);
        }
    }
}

}  // namespace

std::vector<std::string> needs_restart(
    const config::settings& running, const config::settings& fresh
)
{
    std::vector<std::string> keys;
    const auto compare = [&keys](bool same, const char* key) {
        if (!same) {
            keys.emplace_back(key);
        }
    };
    compare(same_but_for_tls(running.server.listeners, fresh.server.listeners), "listeners");
    compare(same_but_for_hosts(running.server.admin, fresh.server.admin), "admin");
    compare(running.server.workers == fresh.server.workers, "workers");
    compare(running.server.max_connections == fresh.server.max_connections, "max_connections");
    compare(running.local_store == fresh.local_store, "stores.local");
    return keys;
}

std::vector<std::string> reload_warnings(
    std::vector<std::string> unchanged, const config::settings& fresh
)
{
    for (std::string& key : unchanged) {
        key += ": a changed value takes effect at the next start only";
    }
    unchanged.insert(unchanged.end(), fresh.warnings.begin(), fresh.warnings.end());
    return unchanged;
}

void keep_fixed(const config::settings& running, config::settings& fresh)
{
    client::options kept = running.server;
    kept.drain_timeout = fresh.server.drain_timeout;  // This and the next keys may change.
    kept.upgrade_timeout = fresh.server.upgrade_timeout;
    kept.max_connections_per_peer = fresh.server.max_connections_per_peer;
    kept.max_waiting = fresh.server.max_waiting;
    kept.admin_token = fresh.server.admin_token;
    kept.admin.hosts = fresh.server.admin.hosts;
    keep_listeners(fresh.server.listeners, kept.listeners);
    const bool wants_header = std::any_of(
        kept.listeners.begin(),
        kept.listeners.end(),
        [](const client::listener_options& one) { return one.proxy_protocol; }
    );
    if (wants_header && fresh.policy->client.trusted_proxies.empty()) {
        throw std::runtime_error{
            "client.trusted_proxies: must not become empty before a restart, as a listener goes on "
            "taking connections with a PROXY header from those only"};
    }
    for (const client::listener_options& one : kept.listeners) {
        if (!one.rate_limit_service.empty() && !has_service(fresh, one.rate_limit_service)) {
            throw std::runtime_error{
                "rate_limit_service." + one.rate_limit_service +
                ": must not go before a restart, as a listener goes on serving it"};
        }
    }
    fresh.server = std::move(kept);
    fresh.local_store = running.local_store;
}

}  // namespace gateway
