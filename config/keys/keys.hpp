// What a mapping of the configuration may hold, told key by key. Each mapping is described once
// (config/sections.hpp), and the description is told to whoever needs it: who reads the file
// (reading.hpp), who prints settings (printing.hpp), who explains the keys (schema.hpp).
#pragma once

#include "config/text/reader.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <functional>

namespace gateway::config {

struct key {
    std::string_view name;
    // A cell of the reference table in docs/configuration.md, in Markdown.
    std::string_view meaning;
};

// The words of an enumeration. The order is that of the messages.
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

// The default and the range of a value, as the reference table has them.
struct stated {
    std::string_view standard;
    std::string_view range = {};
};

class keys;

// A value written in a way of its own.
struct form {
    // A default of "none": the key must be written, unless `optional`.
    stated says;

    // What it looks like, in JSON Schema.
    std::string_view schema = R"({"type":"string"})";

    std::function<void(section&)> read;
    // As YAML on one line; nothing: the key is left out.
    std::function<std::optional<std::string>()> print;
    // The keys of the mapping that it may be instead; may be empty.
    std::function<void(keys&)> inner = {};
    bool optional = false;
};

// A list of mappings, or a mapping from names to them.
struct collection {
    stated says;
    bool named = true;
    std::function<void(section&)> read;

    std::function<std::size_t()> size;
    std::function<std::string(std::size_t)> name = {};
    // Element `i`; of `size()`, one with every default.
    std::function<void(std::size_t, keys&)> describe;

    // An element that is always there, with keys of its own.
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

    // A mapping; with `is_set` false, one that is not there by default.
    virtual void mapping(
        const key& k, const std::function<void(keys&)>& describe, bool is_set = true
    ) = 0;

    virtual void each(const key& k, const collection& c) = 0;

    // What must hold among the keys before it: called when they have been read.
    virtual void rule(const std::function<void(section&)>& holds) { (void)holds; }

    // A part of such a rule that JSON Schema can tell.
    virtual void constraint(std::string_view schema) { (void)schema; }

protected:
    // Take the present value and return the new one.
    virtual std::uint64_t whole(
        const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max
    ) = 0;
    virtual std::uint64_t bytes(
        const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max
    ) = 0;
    // The index of the word.
    virtual std::size_t choice(
        const key& k, std::size_t value, std::span<const std::string_view> names
    ) = 0;
};

// Of a collection that is kept in a vector, which outlives it: `describe` gets the element.
template <class Element, class Describe>
std::function<void(std::size_t, keys&)> of_each(std::vector<Element>& all, Describe describe)
{
    return [&all, describe](std::size_t i, keys& k) {
        Element fresh{};
        describe(k, i < all.size() ? all[i] : fresh);
    };
}

}  // namespace gateway::config
