#include "gateway/certificate_expiry.hpp"

#include <set>

namespace gateway {

std::vector<telemetry::certificate_figures> certificate_expiry(const server::options& options)
{
    std::vector<telemetry::certificate_figures> figures;
    std::set<std::string> told;
    for (const server::listener_options& listener : options.listeners) {
        if (!listener.tls) {
            continue;
        }
        for (const net::server_certificate& one : listener.tls->certificates) {
            const auto facts = net::facts_of(one.certificate.text);
            if (facts && told.insert(one.certificate.path).second) {
                figures.push_back({one.certificate.path, facts->not_after});
            }
        }
    }
    return figures;
}

}  // namespace gateway
