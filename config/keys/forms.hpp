// The forms that the value of a key may have.
#pragma once

#include "config/text/ranges.hpp"
#include "config/text/reader.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace gateway::config {

class keys;
using describe_keys = std::function<void(keys&)>;

struct key {
    std::string_view name;
    // Cell of the reference table in docs/configuration.md, in Markdown.
    std::string_view meaning{};
    // True if the key has no default.
    bool required = false;
    // False if settings are printed without it.
    bool is_printed = true;
    // Meaning for readers of the schema, if it is not that of the table. A section has a heading
    // there instead of a row.
    std::string_view summary{};
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

template <class Enum, std::size_t Count>
std::string name_of(Enum value, const words<Enum, Count>& choices)
{
    return std::string{choices[index_of(value, choices)].first};
}

// `scalar` is a value of a usual form, as a number: nanoseconds, bytes, the index of a word.
struct scalar {
    enum class kind { flag, time, whole, bytes, word };
    kind is;
    std::uint64_t value;
    range within{0, 0};
    std::span<const std::string_view> names{};
};

inline base::duration duration_of(std::uint64_t number)
{
    return base::duration{static_cast<base::duration::rep>(number)};
}

// Returns the number, which is the scalar's value or one of its bounds, as the file has it.
std::string text_of(const scalar& s, std::uint64_t number);

// `stated` is the default and the range of a value, as in the reference table.
struct stated {
    std::string_view standard;
    std::string_view range{};
};

// JSON Schemas of texts, and of durations that must stand in the file itself.
inline constexpr std::string_view text_schema = R"({"type":"string"})";
inline constexpr std::string_view duration_pattern = "^(0|[1-9][0-9]*)(ms|s|m|h|d)$";
inline constexpr std::string_view size_pattern = "^(0|[1-9][0-9]*)(KiB|MiB|GiB|TiB)?$";
std::string schema_of(range within);

// `form` is a value with a syntax of its own.
struct form {
    stated documented{};
    // JSON Schema of the value.
    std::string schema{text_schema};
    std::function<void(section&)> read;
    // Returns the value as YAML on one line, or an empty text to leave out the key.
    std::function<std::string()> print;
    // Describes the mapping that the value may be instead. May be empty.
    describe_keys inner{};
};

// Returns what is wrong with a text, or an empty one.
using text_check = std::string (*)(const std::string& text);
// Puts the value of a text in place, or returns what is wrong with the text.
using text_taker = std::string (*)(const std::string& text, std::string& value);

struct text_form {
    stated documented{};
    std::string schema{text_schema};
    // Puts the text in place, or returns what is wrong with it.
    std::function<std::string(const std::string& text)> take;
    std::function<std::string()> print;
};

// `list_form` is a list of texts.
struct list_form {
    stated documented;
    std::string schema;
    std::size_t max;
    // Describes each of them in messages.
    std::string_view expected;
    // Puts a text in place, or returns what is wrong with it.
    std::function<std::string(const std::string& text)> take;
    std::function<std::string()> print;
    // Problem with an empty list. Empty: there is none.
    std::string_view if_empty{};
};

struct line_form {
    stated documented;
    // False: it is absent.
    bool is_set;
    describe_keys describe;
    // Value that is no mapping, and may stand instead of one. It is printed as nothing if the value
    // is the mapping. Without `read` there is no such value.
    form otherwise{};
};

// `collection` is a list of mappings, or a mapping from names to mappings.
struct collection {
    stated documented;
    bool named = true;
    std::function<void(section&)> read;

    std::function<std::size_t()> size;
    std::function<std::string(std::size_t)> name{};
    // Describes element `i`, or for `i` == `size()` one with every default.
    std::function<void(std::size_t, keys&)> describe;

    // Element that is always there, with keys of its own.
    key first{};
    describe_keys describe_first{};
};

}  // namespace gateway::config
