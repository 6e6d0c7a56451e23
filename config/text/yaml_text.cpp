#include "config/text/yaml_text.hpp"

#include <algorithm>

namespace gateway::config {

std::string yaml(std::string_view text)
{
    const auto is_safe = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view{"_./-"}.find(c) != std::string_view::npos;
    };
    const bool null = text.empty() || text == "null" || text == "Null" || text == "NULL";
    if (!null && text.front() != '-' && std::all_of(text.begin(), text.end(), is_safe)) {
        return std::string{text};
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
    return quoted + '"';
}

}  // namespace gateway::config
