#include "gateway/policy/matcher.hpp"

namespace gateway::policy {

matcher::matcher(std::span<const route> routes)
{
    for (std::size_t index = 0; index < routes.size(); ++index) {
        const route_match& match = routes[index].match;
        host_index& of = match.scheme == url_scheme::http    ? of_http_
                         : match.scheme == url_scheme::https ? of_https_
                                                             : of_either_;
        of.add(match, index);
    }
}

std::optional<std::size_t> matcher::find(const routing_subject& subject) const
{
    const host_index& own = subject.secure ? of_https_ : of_http_;
    if (!own.empty()) {
        if (const auto found = own.find(subject)) {
            return found;
        }
    }
    return of_either_.find(subject);
}

}  // namespace gateway::policy
