// `section` reads one mapping of the document strictly. It remembers which keys it was asked for,
// and complains of the rest: unknown, duplicate, of the wrong type, out of range. It never throws.
// A bad value leaves the default where it was, and a problem among the findings.
// Ownership: it lives on the stack while its node and findings live.
#pragma once

#include "config/text/document.hpp"
#include "config/text/problem.hpp"
#include "config/text/ranges.hpp"
#include "gateway/base/clock.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
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

    // Implicit, so that a problem can be reported at the value itself.
    // NOLINTNEXTLINE(google-explicit-constructor)
    operator origin() const { return {value->at, path}; }
};

using use_of_item = std::function<void(const located& item)>;
using use_of_text = std::function<std::string(const std::string& name, const std::string* text)>;

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

    // Returns the value of a key, which is null if it is missing.
    located value(std::string_view key) { return {find(key), path_of(key)}; }

    // Reads the mapping of a key.
    // Requires: the key is there.
    section inside(std::string_view key);

    // Returns the entries of a mapping from names to values. It leaves out those whose name is bad,
    // a duplicate, or past `max`, which are problems.
    // Requires: the key is there.
    std::vector<std::pair<std::string, located>> named(std::string_view key, std::size_t max);

    // Calls `use` with each element of a list. A list of more than `max` is a problem, and an empty
    // one has the problem `if_empty`, unless that is empty.
    void each_item(
        std::string_view key, std::size_t max, std::string_view if_empty, const use_of_item& use
    );

    // Has `take` take each name of a mapping and its text, which is null after a complaint. What
    // that returns is a problem, unless it is empty.
    // Requires: the key is there.
    void each_text(std::string_view key, std::string_view expected, const use_of_text& take);

    // Returns nothing if the key is missing or of another type, which is a problem.
    std::optional<located> list(std::string_view key);
    const std::string* text(std::string_view key, lines may_have = lines::one);

    // Has `take` take a text. Whatever that returns is a problem, unless it is empty.
    void take_text(
        std::string_view key, const std::function<std::string(const std::string&)>& take
    );

    // Reads a number into `value`. Returns false, and leaves it, if the key is missing or its value
    // is bad.
    template <std::integral Number>
    bool take_number(std::string_view key, Number& value, range within)
    {
        const auto read = number(key, within.min, within.max);
        value = read ? static_cast<Number>(*read) : value;
        return read.has_value();
    }

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

    // Returns the index of the name, as resolve() does.
    std::optional<std::size_t> reference(
        std::string_view key, std::string_view what, const std::vector<std::string>& names
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
    // Returns the text of a value that must stand in the file itself, or null, after a complaint if
    // there is one.
    const std::string* plain(std::string_view key, std::string_view expected);

    template <class Value, class Format>
    std::optional<Value> bounded(
        std::string_view key, std::optional<Value> parsed, Value min, Value max, Format format
    );

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

// Calls `use` with each element of a list, unless it has more than `max`, which is a problem.
void each_item(const located& list, std::size_t max, findings& found, const use_of_item& use);

// Returns the index of the name. Otherwise returns nothing and adds a problem: `unknown limit "x",
// did you mean …`.
std::optional<std::size_t> resolve(
    const located& name,
    std::string_view what,
    const std::vector<std::string>& names,
    findings& found
);

// Returns the path with one more key. A key that the file spells strangely is shortened and quoted.
std::string joined(const std::string& path, std::string_view key);

}  // namespace gateway::config
