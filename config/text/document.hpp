// Parses YAML into a plain tree with positions. No other file knows yaml-cpp.
//
// The tree is built from parser events rather than from YAML::Node, which hides duplicate keys,
// quotes and aliases. Each of these is refused with one clear problem: text that is too large,
// nested too deeply or not YAML, several documents, anchors, aliases, tags, control characters.
#pragma once

#include "config/text/problem.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::config {

inline constexpr std::size_t max_file_bytes = 16 * 1024 * 1024;
inline constexpr std::size_t max_depth = 32;

struct entry;

struct node {
    enum class kind { nothing, scalar, list, mapping };
    kind is = kind::nothing;
    place at;

    // The text of a scalar.
    std::string text;
    // True for a scalar without quotes.
    bool plain = false;

    // The elements of a list.
    std::vector<node> items;
    // The entries of a mapping, in the order of the file, duplicates included.
    std::vector<entry> entries;
};

struct entry {
    // The key is always a scalar.
    node key;
    node value;
};

// Returns the kind's name for messages: "a plain value", "a list", …
std::string_view name_of(node::kind kind);

// Parses one document; an empty text gives nothing. `file` is the file's number, for positions.
// Errors: throws config_error.
node parse_document(std::string_view yaml, std::string_view file_name, int file = 0);

}  // namespace gateway::config
