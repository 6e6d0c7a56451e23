// Strict reading of one mapping of the document. A section remembers which keys it was asked for,
// and complains of the rest: unknown, duplicate, of the wrong type, out of range. It never throws:
// a bad value leaves the default where it was and a problem among the findings.
// Lives on the stack while its node and findings live.
#pragma once

#include "config/document.hpp"
#include "config/problem.hpp"
#include "gateway/base/clock.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gateway::config {

// A value and the path of keys that leads to it.
struct located {
    const node* value;
    std::string path;
};

// The words of an enumeration. The order is that of the messages.
template <class Enum, std::size_t Count>
using words = std::array<std::pair<std::string_view, Enum>, Count>;

class section {
public:
    // Complains if the value is no mapping, and then reads as an empty one.
    section(const located& mapping, findings& found);
    section(const section&) = delete;
    section& operator=(const section&) = delete;

    bool has(std::string_view key) { return find(key) != nullptr; }

    // Whether no entry before it has the same key.
    bool is_first(const entry& e) const { return entries_.at(e.key.text) == &e; }

    // The value of a key, whatever its type; nullptr if it is not there.
    const node* find(std::string_view key);
    // The same, and a problem if it is not there.
    const node* require(std::string_view key);

    // Nothing if the key is not there or is of another type, which is a problem.
    std::optional<located> list(std::string_view key);
    const std::string* text(std::string_view key);

    void read(std::string_view key, bool& out);

    void read(
        std::string_view key,
        base::duration& out,
        std::type_identity_t<base::duration> min,
        std::type_identity_t<base::duration> max
    );

    template <std::integral Number>
    void read_number(std::string_view key, Number& out, std::uint64_t min, std::uint64_t max)
    {
        out = static_cast<Number>(number(key, min, max).value_or(static_cast<std::uint64_t>(out)));
    }

    template <std::integral Number>
    void read_size(std::string_view key, Number& out, std::uint64_t min, std::uint64_t max)
    {
        out = static_cast<Number>(size(key, min, max).value_or(static_cast<std::uint64_t>(out)));
    }

    template <class Enum, std::size_t Count>
    void read(std::string_view key, Enum& out, const words<Enum, Count>& choices)
    {
        std::array<std::string_view, Count> names;
        for (std::size_t i = 0; i < Count; ++i) {
            names[i] = choices[i].first;
        }
        if (const auto index = choice(key, names)) {
            out = choices[*index].second;
        }
    }

    // Complains of every key nobody asked for. Call it last.
    void refuse_the_rest();

    void problem(std::string_view key, std::string message);
    void warning(std::string_view key, std::string message);
    std::string path_of(std::string_view key) const;

    place at() const { return mapping_.value->at; }

private:
    std::string complaint_about(std::string_view key);

    // The position of the key's value; without a value, that of the section.
    place place_of(std::string_view key);

    std::optional<std::uint64_t> number(std::string_view key, std::uint64_t min, std::uint64_t max);
    std::optional<std::uint64_t> size(std::string_view key, std::uint64_t min, std::uint64_t max);
    std::optional<std::size_t> choice(
        std::string_view key, std::span<const std::string_view> names
    );

    located mapping_;
    findings& found_;

    // The first entry of each key.
    std::unordered_map<std::string_view, const entry*> entries_;
    // The keys that were asked for.
    std::vector<std::string_view> known_;
};

// The scalar's text, or nullptr and a problem saying what was expected.
const std::string* scalar_text(const located& value, std::string_view expected, findings& found);

// Element `index` of a list.
located item_of(const located& list, std::size_t index);

// The path with one more key; what the file spells strangely is shortened and quoted.
std::string joined(const std::string& path, std::string_view key);

// The entries of a mapping from names to sections ("limits", "upstreams", "stores"), without those
// whose name is bad, a duplicate, or past `max`: these are problems.
std::vector<std::pair<std::string, located>> named_entries(
    const located& mapping, std::size_t max, findings& found
);

}  // namespace gateway::config
