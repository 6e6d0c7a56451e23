// Values as YAML writes them on one line. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gateway::config {

// Plain where YAML cannot misread it, else double-quoted. No control characters.
std::string yaml(std::string_view text);

inline std::string yaml(bool value)
{
    return value ? "true" : "false";
}

// A list of what `text_of` says of each item.
template <class Items, class Text>
std::string yaml_list(const Items& items, Text text_of)
{
    std::string list;
    for (const auto& item : items) {
        list += (list.empty() ? "" : ", ") + yaml(std::string_view{text_of(item)});
    }
    return '[' + list + ']';
}

}  // namespace gateway::config
