#include "config/routes/path_text.hpp"

#include "config/text/text_rules.hpp"
#include "gateway/policy/path.hpp"
#include "gateway/policy/route.hpp"

namespace gateway::config {
namespace {

constexpr std::size_t longest_path = policy::max_match_path_bytes;

}  // namespace

std::optional<std::string> read_path(section& from, std::string_view key)
{
    const std::string* text = from.text(key);
    if (text == nullptr) {
        return std::nullopt;
    }
    std::string room;
    const auto [path, refused_because] = policy::normalise_path(*text, room);
    if (!text->starts_with('/')) {
        from.problem(key, "a path begins with '/', got " + quote(*text));
    } else if (!is_visible(*text, longest_path)) {
        from.problem(key, "expected at most 512 printable ASCII characters, others as %XX");
    } else if (text->find_first_of("?#") != std::string::npos) {
        from.problem(key, "a path has no query or fragment: write %3F or %23 for the character");
    } else if (text->find(';') != std::string::npos) {
        from.problem(key, "parameters (\";\") are left out when paths are matched: leave them out");
    } else if (!refused_because.empty()) {
        from.problem(key, "no request can match: " + std::string(refused_because));
    } else {
        return std::string(path);
    }
    return std::nullopt;
}

}  // namespace gateway::config
