// `keys` describes, key by key, what a mapping of the configuration may hold, as in
// `http("max_headers", "header fields").number(options.max_headers, {1, 1000})`. Each mapping is
// described once (config/sections.hpp), and each use of the description derives from `keys`:
// reading the file (read_mapping), printing settings (print.hpp), explaining the keys (schema.hpp).
#pragma once

#include "config/keys/forms.hpp"
#include "config/text/ranges.hpp"

#include <concepts>

namespace gateway::config {

class described_key;

class keys {
public:
    keys() = default;
    keys(const keys&) = delete;
    keys& operator=(const keys&) = delete;
    virtual ~keys() = default;

    described_key operator()(const key& k);
    described_key operator()(
        std::string_view name, std::string_view meaning = {}, bool required = false
    );

    // Takes the present value and returns the new one.
    virtual std::uint64_t take(const key& k, const scalar& s) = 0;
    virtual void other(const key& k, const form& f) = 0;
    virtual void mapping(const key& k, const describe_keys& describe, bool is_set) = 0;
    virtual void line(const key& k, const line_form& f) = 0;
    virtual void each(const key& k, const collection& c) = 0;

    // Adds a rule about the keys before it. It is called when they have been read.
    virtual void rule(const std::function<void(section&)>& holds) { (void)holds; }

    // Adds the part of such a rule that JSON Schema can express.
    virtual void constraint(std::string_view schema) { (void)schema; }
};

// `described_key` is a key, whose functions describe the form of its value.
class described_key {
public:
    described_key(keys& all, const key& k) : all_(all), key_(k) {}

    // Returns the same key, which is printed only if `is_printed`.
    described_key printed_if(bool is_printed) const
    {
        return {all_, {key_.name, key_.meaning, key_.required, is_printed, key_.summary}};
    }

    void flag(bool& value) const;
    void time(base::duration& value, times within = {}) const;

    template <std::integral Number>
    void number(Number& value, range within) const
    {
        const auto present = static_cast<std::uint64_t>(value);
        value = static_cast<Number>(take_amount(scalar::kind::whole, present, within));
    }

    template <std::integral Number>
    void size(Number& value, range within) const
    {
        const auto present = static_cast<std::uint64_t>(value);
        value = static_cast<Number>(take_amount(scalar::kind::bytes, present, within));
    }

    template <class Enum, std::size_t Count>
    void word(Enum& value, const words<Enum, Count>& choices) const
    {
        const auto names = names_of(choices);
        const std::size_t index = index_of(value, choices);
        value = choices[take({.is = scalar::kind::word, .value = index, .names = names})].second;
    }

    // Describes a number whose default is in words.
    template <std::integral Number>
    void number(Number& value, stated documented, range within) const
    {
        const auto read = [&value, within, name = key_.name](section& from) {
            from.take_number(name, value, within);
        };
        const auto print = [&value] { return std::to_string(value); };
        other({.documented = documented, .schema = schema_of(within), .read = read, .print = print}
        );
    }

    // Describes a text with a syntax of its own.
    void text(const text_form& f) const;
    // Describes a text that is kept as it is written, if `check` has no complaint. An empty one is
    // not printed.
    void text(
        std::string& value,
        stated documented,
        text_check check,
        std::string_view schema = text_schema
    ) const;
    // Describes a text that `put` puts in place. An empty one is not printed.
    void text(
        std::string& value, stated documented, text_taker put, std::string_view schema = text_schema
    ) const;
    void texts(const list_form& f) const;
    // Describes the name of an element of another section, which is a `what`. `index` is that of
    // the element, or past the end of `names` for none.
    void reference(
        std::size_t& index,
        stated documented,
        std::string_view what,
        const std::vector<std::string>& names
    ) const;

    // Describes a list of such names, in which none comes twice. `indices` are below the number of
    // names.
    void references(
        std::vector<std::size_t>& indices,
        std::size_t max,
        std::string_view what,
        const std::vector<std::string>& names
    ) const;

    void other(const form& f) const { all_.other(key_, f); }

    // Describes a mapping. With `is_set` false it is absent by default.
    void mapping(const describe_keys& describe, bool is_set = true) const
    {
        all_.mapping(key_, describe, is_set);
    }

    // Describes a mapping that is absent by default.
    template <class Value, class Describe>
    void mapping(std::optional<Value>& value, Describe describe) const
    {
        const bool is_set = value.has_value();
        mapping([&](keys& k) { describe(k, value ? *value : value.emplace()); }, is_set);
    }

    // Describes a mapping that is written on one line.
    void line(const line_form& f) const { all_.line(key_, f); }

    void each(const collection& c) const { all_.each(key_, c); }

private:
    keys& all_;
    key key_;

    std::uint64_t take(const scalar& s) const { return all_.take(key_, s); }

    std::uint64_t take_amount(scalar::kind is, std::uint64_t value, range within) const
    {
        return take({.is = is, .value = value, .within = within});
    }
};

inline described_key keys::operator()(const key& k)
{
    return {*this, k};
}

inline described_key keys::operator()(
    std::string_view name, std::string_view meaning, bool required
)
{
    return {*this, {name, meaning, required}};
}

// Marks a key that has no default.
inline constexpr bool required = true;

// Reads a mapping of the file, in which every key is described, into the values that are described.
void read_mapping(const located& mapping, findings& found, const describe_keys& describe);

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
