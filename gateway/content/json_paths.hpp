// `json_paths` is a set of paths to members of JSON texts, such as `model`, `params.name` and
// `messages.0.role`, as one tree, so that one scan of a text finds them all. A name in digits is
// the position in an array, or the name of a member of an object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::content {

// Paths, by their indices, as bits.
using path_set = std::uint64_t;

class json_paths {
public:
    // Most different paths, names in one, and bytes of a name.
    static constexpr std::size_t most = 64;
    static constexpr std::size_t most_names = 8;
    static constexpr std::size_t longest_name = 64;

    // Index of `node::path` while the node ends none.
    static constexpr std::size_t no_path = most;

    struct node {
        std::string name;
        std::size_t path = no_path;
        // The paths that end here or below.
        path_set below = 0;
        // Indices of nodes.
        std::vector<std::uint16_t> children{};
    };

    // Returns the names of a path, or nothing unless it has 1 to `most_names` of 1 to
    // `longest_name` visible characters.
    static std::optional<std::vector<std::string>> parse(std::string_view path);

    // Adds a path unless it is there. Returns its index, or nothing if there are `most` others.
    // Requires: parse() takes it.
    std::optional<std::size_t> add(std::string_view path);

    std::size_t count() const { return count_; }

    // Returns false if the text lacks a name of each path, as it is or with escapes, so that no
    // path leads to a value. Cheaper than a scan by far.
    bool may_occur_in(std::string_view text) const;

    static constexpr std::size_t root = 0;

    const node& at(std::size_t index) const { return nodes_[index]; }

    // Returns the position among the children of a node of the one with this name; nothing: none
    // has it.
    std::optional<std::size_t> child_of(std::size_t index, std::string_view name) const;

private:
    std::vector<node> nodes_{node{}};
    std::size_t count_ = 0;
    // One name of each path, unless one of them need not stand in a text as it is.
    std::vector<std::string> needed_;
    bool may_always_occur_ = false;

    void need(const std::string& name);
};

constexpr path_set only(std::size_t path)
{
    return path_set{1} << path;
}

}  // namespace gateway::content
