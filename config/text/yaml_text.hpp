// Writes values as YAML on one line. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gateway::config {

// Returns the text plain if YAML cannot misread it, otherwise double-quoted.
// Requires: no control characters.
std::string yaml(std::string_view text);

inline std::string yaml(bool value)
{
    return value ? "true" : "false";
}

// Returns the text as YAML, or nothing for an empty one.
inline std::string yaml_or_nothing(std::string_view text)
{
    return text.empty() ? std::string{} : yaml(text);
}

// Returns a list of the texts that `text_of` gives for the items.
template <class Items, class Text = std::identity>
std::string yaml_list(const Items& items, Text text_of = {})
{
    std::string list;
    for (const auto& item : items) {
        list += (list.empty() ? "" : ", ") + yaml(std::string_view{text_of(item)});
    }
    return '[' + list + ']';
}

}  // namespace gateway::config
