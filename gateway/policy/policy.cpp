#include "gateway/policy/policy.hpp"

#include <algorithm>

namespace gateway::policy {

namespace {

bool reads_host(const limit_rule& rule)
{
    return std::any_of(rule.key.begin(), rule.key.end(), [](const key_part& part) {
        return part.from == key_part::source::host;
    });
}

}  // namespace

void policy::finish()
{
    for (route& r : routes) {
        r.corrects = std::any_of(r.limits.begin(), r.limits.end(), [this](std::size_t i) {
            return limits[i].outcome.any();
        });
    }
    find_route = matcher{routes};
    reads_hosts = std::any_of(limits.begin(), limits.end(), reads_host) ||
                  std::any_of(routes.begin(), routes.end(), [](const route& r) {
                      return !r.match.host.empty();
                  });
}

}  // namespace gateway::policy
