// The YAML text as a plain tree, with positions. The only place that knows yaml-cpp.
//
// It is built from parser events rather than from YAML::Node, which hides duplicate keys, quotes
// and aliases. Refused here, each with one clear problem: text that is too large, nested too
// deeply, not YAML, several documents, anchors, aliases, tags, control characters.
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
    // Whether it is a scalar without quotes.
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

// "text", "a list", …: for messages.
std::string_view name_of(node::kind kind);

// Throws config_error. An empty text is nothing. `file` is the file's number, for places.
node parse_document(std::string_view yaml, std::string_view file_name, int file = 0);

}  // namespace gateway::config
