#include "gateway/policy/matcher.hpp"

namespace gateway::policy {

matcher::matcher(std::span<const route> routes)
{
    for (std::size_t index = 0; index < routes.size(); ++index) {
        const route_match& match = routes[index].match;
        (match.host.empty() ? of_any_host_ : by_host_[match.host]).add(match, index);
    }
}

std::optional<std::size_t> matcher::find(const routing_subject& subject) const
{
    if (!by_host_.empty()) {
        if (const auto own = by_host_.find(subject.host); own != by_host_.end()) {
            if (const auto found = own->second.find(subject.method, subject.path)) {
                return found;
            }
        }
    }
    return of_any_host_.find(subject.method, subject.path);
}

}  // namespace gateway::policy
