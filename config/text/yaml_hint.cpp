#include "config/text/hints.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::config {
namespace {

constexpr std::string_view no_space = "a part of a key is written without a space: header:NAME";
constexpr std::string_view quotes =
    "a value that begins with [::, *, @, % or ` needs quotes, as in \"[::]:8080\"";

// Each sign is a text in the line, with what it probably means. The first that is found counts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> signs{
    {{"${", not_expanded},
     {"key: header: ", no_space},
     {"key: cookie: ", no_space},
     {"key: query: ", no_space},
     {": [::", quotes},
     {": *", quotes},
     {"- *", quotes},
     {": @", quotes},
     {"- @", quotes},
     {": %", quotes},
     {"- %", quotes},
     {": `", quotes},
     {"- `", quotes}}};

// True for `rate:10/s`, where a key stands alone on its line.
bool lacks_space_after_colon(std::string_view text)
{
    const std::size_t colon = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
    return colon != 0 && colon < text.size() && text[colon] == ':' &&
           text.find_first_of(" \r", colon) != colon + 1 && colon + 1 < text.size();
}

}  // namespace

std::string_view yaml_hint(std::string_view line)
{
    const std::size_t indentation = std::min(line.find_first_not_of(" \t"), line.size());
    if (line.substr(0, indentation).find('\t') != std::string_view::npos) {
        return "indent with spaces, not with tabs";
    }
    if (lacks_space_after_colon(line.substr(indentation))) {
        return "a space is missing after the colon";
    }
    const auto found = std::find_if(signs.begin(), signs.end(), [line](const auto& sign) {
        return line.find(sign.first) != std::string_view::npos;
    });
    return found == signs.end() ? std::string_view{} : found->second;
}

}  // namespace gateway::config
