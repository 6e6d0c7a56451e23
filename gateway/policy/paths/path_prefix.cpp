#include "gateway/policy/paths/path_prefix.hpp"

#include "gateway/policy/paths/path.hpp"

#include <algorithm>
#include <string>

namespace gateway::policy {

namespace {

// Returns the length of the separator that the text begins with, or 0 if it begins with something
// else.
std::size_t separator_size(std::string_view text)
{
    if (text.starts_with('/')) {
        return 1;
    }
    const bool encoded = text.starts_with("%2F") || text.starts_with("%2f") ||
                         text.starts_with("%5C") || text.starts_with("%5c");
    return encoded ? 3 : 0;
}

path_rest rest_behind(std::string_view path, std::size_t end)
{
    path_rest rest{.text = path.substr(end)};
    while (const std::size_t size = separator_size(rest.text)) {
        rest.text.remove_prefix(size);
        rest.separated = true;
    }
    return rest;
}

// Returns the next end of a segment from `at` on.
std::size_t segment_end(std::string_view path, std::size_t at)
{
    while (at < path.size() && separator_size(path.substr(at)) == 0) {
        ++at;
    }
    return at;
}

// True if anything of the segment stays in the path's normal form.
bool counts(std::string_view segment)
{
    std::string room;
    return !segment.empty() && normalise_path("/" + std::string{segment}, room).path.size() > 1;
}

}  // namespace

path_rest past_prefix(std::string_view path, std::string_view prefix)
{
    const bool as_it_is =
        path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
    if (as_it_is) {
        return rest_behind(path, prefix.size());
    }
    // The path is known to begin with these segments, so it is enough to count them.
    auto left = std::count(prefix.begin(), prefix.end(), '/');
    std::size_t at = 0;
    while (left > 0 && at < path.size()) {
        const std::size_t begin = at + separator_size(path.substr(at));
        at = segment_end(path, begin);
        left -= counts(path.substr(begin, at - begin)) ? 1 : 0;
    }
    return rest_behind(path, at);
}

}  // namespace gateway::policy
