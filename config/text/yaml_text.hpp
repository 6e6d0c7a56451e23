// Writes values as YAML on one line. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

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

// Returns a mapping of the names and values that `entry_of` gives for the items, or nothing if
// there are none. The values are YAML already.
template <class Items, class Entry>
std::string yaml_mapping(const Items& items, Entry entry_of)
{
    std::string all;
    for (const auto& item : items) {
        const auto& [name, value] = entry_of(item);
        all += (all.empty() ? "" : ", ") + yaml(std::string_view{name}) + ": " + value;
    }
    return all.empty() ? all : "{ " + all + " }";
}

}  // namespace gateway::config
