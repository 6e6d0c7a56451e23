// `take_path()` takes a path in the configuration.
#include "config/routes/route_sections.hpp"
#include "config/text/text_rules.hpp"
#include "gateway/policy/paths/path.hpp"

namespace gateway::config {

std::string take_path(const std::string& text, std::string& path)
{
    std::string room;
    const auto [normal, refused_because] = policy::normalise_path(text, room);
    if (!text.starts_with('/')) {
        return "a path begins with '/', got " + quote(text);
    }
    if (!is_visible(text, policy::max_match_path_bytes)) {
        return "expected at most 512 printable ASCII characters, others as %XX";
    }
    if (text.find_first_of("?#") != std::string::npos) {
        return "a path has no query or fragment: write %3F or %23 for the character";
    }
    if (text.find(';') != std::string::npos) {
        return "parameters (\";\") are left out when paths are matched: leave them out";
    }
    if (!refused_because.empty()) {
        return "no request can match: " + std::string(refused_because);
    }
    path = normal;
    return {};
}

}  // namespace gateway::config
