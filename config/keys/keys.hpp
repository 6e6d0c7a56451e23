// `keys` is told, key by key, what a mapping of the configuration may hold. Each mapping is
// described once (config/sections.hpp), and each use of the description derives from `keys`:
// reading the file (reading.hpp), printing settings (printing.hpp), explaining the keys
// (schema.hpp).
#pragma once

#include "config/text/reader.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <functional>

namespace gateway::config {

struct key {
    std::string_view name;
    // Cell of the reference table in docs/configuration.md, in Markdown.
    std::string_view meaning;
};

// `words` are the words of an enumeration, in the order in which messages list them.
template <class Enum, std::size_t Count>
using words = std::array<std::pair<std::string_view, Enum>, Count>;

template <class Enum, std::size_t Count>
std::array<std::string_view, Count> names_of(const words<Enum, Count>& choices)
{
    std::array<std::string_view, Count> names;
    std::transform(choices.begin(), choices.end(), names.begin(), [](const auto& choice) {
        return choice.first;
    });
    return names;
}

template <class Enum, std::size_t Count>
std::size_t index_of(Enum value, const words<Enum, Count>& choices)
{
    const auto same = [value](const auto& choice) { return choice.second == value; };
    return static_cast<std::size_t>(
        std::find_if(choices.begin(), choices.end(), same) - choices.begin()
    );
}

// `stated` is the default and the range of a value, as in the reference table.
struct stated {
    std::string_view standard;
    std::string_view range = {};
};

class keys;

// `form` is a value with a syntax of its own.
struct form {
    // Default and range. With a default of "none" the key is required, unless `optional`.
    stated says;

    // JSON Schema of the value.
    std::string_view schema = R"({"type":"string"})";

    std::function<void(section&)> read;
    // Returns the value as YAML on one line, or nothing to leave out the key.
    std::function<std::optional<std::string>()> print;
    // Describes the mapping that the value may be instead. May be empty.
    std::function<void(keys&)> inner = {};
    bool optional = false;
};

// `collection` is a list of mappings, or a mapping from names to mappings.
struct collection {
    stated says;
    bool named = true;
    std::function<void(section&)> read;

    std::function<std::size_t()> size;
    std::function<std::string(std::size_t)> name = {};
    // Describes element `i`, or for `i` == `size()` one with every default.
    std::function<void(std::size_t, keys&)> describe;

    // Element that is always there, with keys of its own.
    key first = {};
    std::function<void(keys&)> describe_first = {};
};

class keys {
public:
    keys() = default;
    keys(const keys&) = delete;
    keys& operator=(const keys&) = delete;
    virtual ~keys() = default;

    virtual void flag(const key& k, bool& value) = 0;

    virtual void time(
        const key& k, base::duration& value, base::duration min, base::duration max
    ) = 0;

    template <std::integral Number>
    void number(const key& k, Number& value, std::uint64_t min, std::uint64_t max)
    {
        value = static_cast<Number>(whole(k, static_cast<std::uint64_t>(value), min, max));
    }

    template <std::integral Number>
    void size(const key& k, Number& value, std::uint64_t min, std::uint64_t max)
    {
        value = static_cast<Number>(bytes(k, static_cast<std::uint64_t>(value), min, max));
    }

    template <class Enum, std::size_t Count>
    void word(const key& k, Enum& value, const words<Enum, Count>& choices)
    {
        value = choices[choice(k, index_of(value, choices), names_of(choices))].second;
    }

    virtual void other(const key& k, const form& f) = 0;

    // Describes a mapping. With `is_set` false it is absent by default.
    virtual void mapping(
        const key& k, const std::function<void(keys&)>& describe, bool is_set = true
    ) = 0;

    virtual void each(const key& k, const collection& c) = 0;

    // Adds a rule about the keys before it. It is called when they have been read.
    virtual void rule(const std::function<void(section&)>& holds) { (void)holds; }

    // Adds the part of such a rule that JSON Schema can express.
    virtual void constraint(std::string_view schema) { (void)schema; }

protected:
    // These take the present value and return the new one.
    virtual std::uint64_t whole(
        const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max
    ) = 0;
    virtual std::uint64_t bytes(
        const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max
    ) = 0;
    // Takes and returns the index of a word.
    virtual std::size_t choice(
        const key& k, std::size_t value, std::span<const std::string_view> names
    ) = 0;
};

// Returns the `describe` of a collection in a vector. `describe` gets the element.
// Ownership: the vector outlives the result.
template <class Element, class Describe>
std::function<void(std::size_t, keys&)> of_each(std::vector<Element>& all, Describe describe)
{
    return [&all, describe](std::size_t i, keys& k) {
        Element fresh{};
        describe(k, i < all.size() ? all[i] : fresh);
    };
}

}  // namespace gateway::config
