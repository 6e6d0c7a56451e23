// `section` reads one mapping of the document strictly. It remembers which keys it was asked for,
// and complains of the rest: unknown, duplicate, of the wrong type, out of range. It never throws.
// A bad value leaves the default where it was, and a problem among the findings.
// Ownership: it lives on the stack while its node and findings live.
#pragma once

#include "config/text/document.hpp"
#include "config/text/problem.hpp"
#include "gateway/base/clock.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gateway::config {

// A value, and the path of keys that leads to it.
struct located {
    const node* value;
    std::string path;
};

class section {
public:
    // Complains if the value is no mapping, and then reads it as an empty one.
    section(const located& mapping, findings& found);
    section(const section&) = delete;
    section& operator=(const section&) = delete;

    bool has(std::string_view key) { return find(key) != nullptr; }

    // True if no entry before it has the same key.
    bool is_first(const entry& e) const { return entries_.at(e.key.text) == &e; }

    // Returns the value of a key, whatever its type, or null if it is missing.
    const node* find(std::string_view key);
    // Returns the same, but a missing key is a problem.
    const node* require(std::string_view key);

    // Returns nothing if the key is missing or of another type, which is a problem.
    std::optional<located> list(std::string_view key);
    const std::string* text(std::string_view key, lines may_have = lines::one);

    // Return nothing if the key is missing or its value is bad, which is a problem.
    std::optional<bool> flag(std::string_view key);
    std::optional<base::duration> time(
        std::string_view key, base::duration min, base::duration max
    );
    std::optional<std::uint64_t> number(std::string_view key, std::uint64_t min, std::uint64_t max);
    std::optional<std::uint64_t> size(std::string_view key, std::uint64_t min, std::uint64_t max);
    // Returns the index of the word.
    std::optional<std::size_t> choice(
        std::string_view key, std::span<const std::string_view> names
    );

    // Complains of every key that nobody asked for.
    // Requires: every key that may be there has been asked for.
    void refuse_the_rest();

    void problem(std::string_view key, std::string message);
    void warning(std::string_view key, std::string message);
    std::string path_of(std::string_view key) const;

    place at() const { return mapping_.value->at; }

    findings& found() { return found_; }

private:
    std::string complaint_about(std::string_view key);

    // Returns the position of the key's value, or that of the section if there is no value.
    place place_of(std::string_view key);

    located mapping_;
    findings& found_;

    // The first entry of each key.
    std::unordered_map<std::string_view, const entry*> entries_;
    // The keys that were asked for.
    std::vector<std::string_view> known_;
};

// True if it is `{ env: NAME }` or `{ file: PATH }`.
bool stands_for_text(const node& n);

// Returns the scalar's text, or that of `{ env: NAME }` or `{ file: PATH }`, which lives as long as
// the findings. Otherwise null, and a problem says what was expected. `may_have` is about the text
// of a variable or a file.
const std::string* scalar_text(
    const located& value, std::string_view expected, findings& found, lines may_have = lines::one
);

// Returns element `index` of a list.
located item_of(const located& list, std::size_t index);

// Returns the path with one more key. A key that the file spells strangely is shortened and quoted.
std::string joined(const std::string& path, std::string_view key);

// Returns the entries of a mapping from names to sections ("limits", "upstreams", "stores"). It
// leaves out those whose name is bad, a duplicate, or past `max`, which are problems.
std::vector<std::pair<std::string, located>> named_entries(
    const located& mapping, std::size_t max, findings& found
);

}  // namespace gateway::config
