#include "gateway/policy/matcher.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gateway::policy {

namespace {

// "/v1" covers "/v1", "/v1/" and "/v1/x", never "/v10"; "/" covers every path, but not "*".
bool covers(std::string_view prefix, std::string_view path)
{
    if (prefix.empty()) {
        return true;
    }
    if (prefix == "/") {
        return path.starts_with('/');
    }
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

bool matches(const route_match& match, const routing_subject& subject)
{
    if (!match.host.empty() && match.host != subject.host) {
        return false;
    }
    if (match.exact ? match.path != subject.path : !covers(match.path, subject.path)) {
        return false;
    }
    return match.methods.empty() ||
           std::find(match.methods.begin(), match.methods.end(), subject.method) !=
               match.methods.end();
}

// Of two prefixes that cover one path, the longer in bytes is the longer in segments.
auto precedence(const route_match& match)
{
    return std::tuple{!match.host.empty(), match.exact, match.path.size(), !match.methods.empty()};
}

}  // namespace

std::string_view compared_path(const route_match& match)
{
    std::string_view path = match.path;
    if (!match.exact && path.size() > 1 && path.ends_with('/')) {
        path.remove_suffix(1);
    }
    return path;
}

matcher::matcher(std::span<const route> routes)
{
    for (std::size_t index = 0; index < routes.size(); ++index) {
        candidate added{routes[index].match, index};
        added.match.path.resize(compared_path(added.match).size());
        by_precedence_.push_back(std::move(added));
    }
    std::stable_sort(
        by_precedence_.begin(),
        by_precedence_.end(),
        [](const candidate& a, const candidate& b) {
            return precedence(a.match) > precedence(b.match);
        }
    );
}

std::optional<std::size_t> matcher::find(const routing_subject& subject) const
{
    const auto found =
        std::find_if(by_precedence_.begin(), by_precedence_.end(), [&](const candidate& c) {
            return matches(c.match, subject);
        });
    if (found == by_precedence_.end()) {
        return std::nullopt;
    }
    return found->index;
}

}  // namespace gateway::policy
