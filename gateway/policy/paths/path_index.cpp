#include "gateway/policy/paths/path_index.hpp"

#include "gateway/policy/paths/path.hpp"
#include "gateway/policy/paths/path_case.hpp"

#include <array>

namespace gateway::policy {

std::string compared_path(const route_match& match)
{
    const std::string path = match.ignore_case ? folded_case(match.path) : match.path;
    return match.exact ? path : std::string{without_final_slash(path)};
}

void path_index::add(const route_match& match, std::size_t index)
{
    (match.ignore_case ? folded_ : as_written_).add(match, compared_path(match), index);
}

std::optional<std::size_t> path_index::find(const routing_subject& subject) const
{
    path_match best = as_written_.find(subject.path, subject);
    if (!folded_.empty()) {
        // A path that does not fit is longer than any exact one, and goes on behind every prefix,
        // so its beginning is enough.
        std::array<char, max_match_path_bytes + 2> room;
        const path_match other = folded_.find(fold_case(subject.path, room), subject);
        best = other.precedes(best) ? other : best;
    }
    return best.route == nullptr ? std::nullopt : std::optional{best.route->index};
}

}  // namespace gateway::policy
