#include "gateway/content/json_paths.hpp"

#include <algorithm>

namespace gateway::content {

namespace {

bool is_name(std::string_view text)
{
    return !text.empty() && text.size() <= json_paths::longest_name &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

// True if each object with such a member has the name in its text, or an escape of one of its
// characters as \u00XX. Positions in arrays are not there, and some characters have shorter
// escapes.
bool stands_in_texts(const std::string& name)
{
    return name.find_first_of("\"\\/") == name.npos &&
           name.find_first_not_of("0123456789") != name.npos;
}

}  // namespace

std::optional<std::vector<std::string>> json_paths::parse(std::string_view path)
{
    std::vector<std::string> names;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find('.', at), path.size());
        const std::string_view name = path.substr(at, end - at);
        if (!is_name(name) || names.size() == most_names) {
            return std::nullopt;
        }
        names.emplace_back(name);
        at = end + 1;
    }
    return names;
}

std::optional<std::size_t> json_paths::add(std::string_view path)
{
    const auto names = *parse(path);
    std::vector<std::size_t> on_path{root};
    for (const std::string& name : names) {
        const std::size_t parent = on_path.back();
        if (const auto known = child_of(parent, name)) {
            on_path.push_back(nodes_[parent].children[*known]);
            continue;
        }
        if (count_ == most) {
            return std::nullopt;
        }
        nodes_[parent].children.push_back(static_cast<std::uint16_t>(nodes_.size()));
        on_path.push_back(nodes_.size());
        nodes_.push_back({.name = name});
    }
    std::size_t& index = nodes_[on_path.back()].path;
    if (index == no_path) {
        if (count_ == most) {
            return std::nullopt;
        }
        index = count_++;
        // The numbers of one usage share the object that they are in.
        need(names[names.size() - std::min<std::size_t>(names.size(), 2)]);
        for (const std::size_t n : on_path) {
            nodes_[n].below |= only(index);
        }
    }
    return index;
}

void json_paths::need(const std::string& name)
{
    may_always_occur_ = may_always_occur_ || !stands_in_texts(name);
    if (std::find(needed_.begin(), needed_.end(), name) == needed_.end()) {
        needed_.push_back(name);
    }
}

bool json_paths::may_occur_in(std::string_view text) const
{
    return may_always_occur_ || text.find("\\u00") != text.npos ||
           std::any_of(needed_.begin(), needed_.end(), [text](const std::string& name) {
               return text.find(name) != text.npos;
           });
}

std::optional<std::size_t> json_paths::child_of(std::size_t index, std::string_view name) const
{
    const auto& children = nodes_[index].children;
    const auto found = std::find_if(children.begin(), children.end(), [&](std::uint16_t c) {
        return nodes_[c].name == name;
    });
    return found == children.end()
               ? std::nullopt
               : std::optional{static_cast<std::size_t>(found - children.begin())};
}

}  // namespace gateway::content
