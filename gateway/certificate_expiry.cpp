#include "gateway/certificate_expiry.hpp"

#include <set>

namespace gateway {

namespace {

class figures {
public:
    void add(const net::pem_file& shown)
    {
        const auto facts = net::facts_of(shown.text);
        if (facts && paths_.insert(shown.path).second) {
            all.push_back({shown.path, facts->holds.front().not_after});
        }
    }

    std::vector<telemetry::certificate_figures> all;

private:
    std::set<std::string> paths_;
};

}  // namespace

std::vector<telemetry::certificate_figures> certificate_expiry(const config::settings& settings)
{
    figures found;
    for (const client::listener_options& listener : settings.server.listeners) {
        if (listener.tls) {
            for (const net::server_certificate& one : listener.tls->certificates) {
                found.add(one.certificate);
            }
        }
    }
    for (const proxy::upstream_options& upstream : settings.upstreams) {
        if (upstream.tls) {
            found.add(upstream.tls->certificate);
        }
    }
    for (const store::named_store& store : settings.shared_stores) {
        const auto* const redis = std::get_if<store::redis_options>(&store.options);
        if (redis != nullptr && redis->tls) {
            found.add(redis->tls->certificate);
        }
    }
    return std::move(found.all);
}

}  // namespace gateway
