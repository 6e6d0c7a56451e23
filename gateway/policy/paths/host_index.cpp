#include "gateway/policy/paths/host_index.hpp"

#include <algorithm>

namespace gateway::policy {

void host_index::add(const route_match& match, std::size_t index)
{
    any_ = true;
    if (match.host.starts_with('*')) {
        const std::string ending = match.host.substr(1);
        longest_ending_ = std::max(longest_ending_, ending.size());
        by_ending_[ending].add(match, index);
    } else {
        (match.host.empty() ? of_any_host_ : by_host_[match.host]).add(match, index);
    }
}

// Tries the longest wildcard first. Looks only at as much of a host's end as the longest wildcard
// names.
std::optional<std::size_t> host_index::find_by_ending(const routing_subject& subject) const
{
    const std::string_view host = subject.host;
    const std::size_t first = host.size() - std::min(host.size(), longest_ending_);
    for (std::size_t dot = host.find('.', std::max<std::size_t>(first, 1));
         dot != std::string_view::npos;
         dot = host.find('.', dot + 1)) {
        if (const auto own = by_ending_.find(host.substr(dot)); own != by_ending_.end()) {
            if (const auto found = own->second.find(subject)) {
                return found;
            }
        }
    }
    return std::nullopt;
}

std::optional<std::size_t> host_index::find(const routing_subject& subject) const
{
    if (!by_host_.empty()) {
        if (const auto own = by_host_.find(subject.host); own != by_host_.end()) {
            if (const auto found = own->second.find(subject)) {
                return found;
            }
        }
    }
    if (!by_ending_.empty()) {
        if (const auto found = find_by_ending(subject)) {
            return found;
        }
    }
    return of_any_host_.find(subject);
}

}  // namespace gateway::policy
