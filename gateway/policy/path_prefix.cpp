#include "gateway/policy/path_prefix.hpp"

#include "gateway/policy/path.hpp"

#include <algorithm>
#include <string>

namespace gateway::policy {

namespace {

// The length of the separator that the text begins with; 0: it begins with something else.
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

// The next end of a segment from `at` on.
std::size_t segment_end(std::string_view path, std::size_t at)
{
    while (at < path.size() && separator_size(path.substr(at)) == 0) {
        ++at;
    }
    return at;
}

}  // namespace

path_rest past_prefix(std::string_view path, std::string_view prefix)
{
    const bool as_it_is =
        path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
    if (as_it_is) {
        return rest_behind(path, prefix.size());
    }
    std::string room;
    for (std::size_t end = segment_end(path, 1);; end = segment_end(path, end + 1)) {
        if (end >= path.size() || normalise_path(path.substr(0, end), room).path == prefix) {
            return rest_behind(path, std::min(end, path.size()));
        }
    }
}

}  // namespace gateway::policy
