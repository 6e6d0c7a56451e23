#include "config/schema.hpp"

#include "config/keys/key_parts.hpp"
#include "config/sections.hpp"
#include "config/text/units.hpp"

#include <boost/json.hpp>

#include <regex>

namespace gateway::config {
namespace {

namespace json = boost::json;

// The mapping that a file may have instead of a text, which then comes from elsewhere.
constexpr std::string_view elsewhere = R"({"type":"object","minProperties":1,"maxProperties":1,
    "additionalProperties":false,"properties":{
    "env":{"type":"string","description":"a variable of the environment"},
    "file":{"type":"string","description":"a file"}}})";

// Makes a schema of two forms, by a test. Validators then complain of the form that was meant. With
// an "anyOf" they only say that no form fits.
json::object if_then_else(json::object test, json::object then, json::object otherwise)
{
    return {{"if", std::move(test)}, {"then", std::move(then)}, {"else", std::move(otherwise)}};
}

json::object is_of(std::string_view type)
{
    return {{"type", type}};
}

json::object ref_elsewhere()
{
    return {{"$ref", "#/$defs/elsewhere"}};
}

// Returns the schema with the other forms of each text in it. A text that must be in the file
// itself has "type": ["string"].
json::value with_elsewhere(json::value schema)
{
    if (json::array* const all = schema.if_array()) {
        for (json::value& one : *all) {
            one = with_elsewhere(std::move(one));
        }
    }
    json::object* const object = schema.if_object();
    if (object == nullptr) {
        return schema;
    }
    const json::value* const type = object->if_contains("type");
    if (type != nullptr && *type == "string") {
        const json::value* const meaning = object->if_contains("description");
        json::value description = meaning == nullptr ? json::value{} : *meaning;
        object->erase("description");
        json::object either = if_then_else(is_of("object"), ref_elsewhere(), std::move(*object));
        if (!description.is_null()) {
            either["description"] = std::move(description);
        }
        return either;
    }
    for (auto& [name, value] : *object) {
        if (name != "if") {
            value = with_elsewhere(std::move(value));
        }
    }
    return schema;
}

// Returns a schema for a text or a mapping.
json::object or_mapping(json::object text, json::object mapping)
{
    json::array keys;
    for (const char* const key : {"env", "file"}) {
        keys.push_back(json::object{{"required", json::array{key}}});
    }
    return if_then_else(
        is_of("object"),
        if_then_else({{"anyOf", std::move(keys)}}, ref_elsewhere(), std::move(mapping)),
        std::move(text)
    );
}

json::object one_or_list(const json::object& one)
{
    return if_then_else(is_of("array"), {{"minItems", 1}, {"items", one}}, one);
}

// Returns the meaning of a key for those who read it elsewhere than in docs/configuration.md:
// without what points to another place of that page, and with the name of another page for a link
// to it.
std::string away_from_its_page(std::string_view meaning)
{
    static const std::regex to_below{
        R"( \((\[below\]\(#[^)]*\)|below)\)|; the (keys|table) below)"};
    static const std::regex link_in_brackets{R"( \(\[([^\]]*)\]\(([\w-]+\.md)[^)]*\)\))"};
    static const std::regex link{R"(\[([^\]]*)\]\(([\w-]+\.md)[^)]*\))"};
    static const std::regex link_within{R"(\[([^\]]*)\]\(#[^)]*\))"};
    std::string text = std::regex_replace(std::string{meaning}, to_below, "");
    text = std::regex_replace(text, link_in_brackets, " ($1: docs/$2)");
    text = std::regex_replace(text, link, "$1 (docs/$2)");
    return std::regex_replace(text, link_within, "$1");
}

// Returns what a schema cannot say of a default and a range, for people.
std::string comment_of(const stated& documented)
{
    std::string comment{documented.range};
    if (!documented.standard.empty() && documented.standard != "none") {
        comment += (comment.empty() ? "default " : "; default ") + std::string{documented.standard};
    }
    return comment;
}

class explaining : public keys {
public:
    // Returns the schema of a mapping.
    static json::object of(const describe_keys& describe)
    {
        explaining all;
        describe(all);
        json::object mapping{{"type", "object"}, {"additionalProperties", false}};
        mapping["properties"] = std::move(all.properties_);
        if (!all.required_.empty()) {
            mapping["required"] = std::move(all.required_);
        }
        if (!all.constraints_.empty()) {
            mapping["allOf"] = std::move(all.constraints_);
        }
        return mapping;
    }

    void other(const key& k, const form& f) override
    {
        json::object schema = json::parse(f.schema).as_object();
        add(k,
            f.inner ? one_or_list(or_mapping(std::move(schema), of(f.inner)))
                    : with_elsewhere(std::move(schema)).as_object(),
            f.documented);
    }

    void mapping(const key& k, const describe_keys& describe, bool) override
    {
        add(k, of(describe));
    }

    void line(const key& k, const line_form& f) override;

    void each(const key& k, const collection& c) override
    {
        json::object element = of([&c](keys& one) { c.describe(c.size(), one); });
        json::object all{{"type", c.named ? "object" : "array"}};
        if (!c.named && k.required) {
            all["minItems"] = 1;
        }
        all[c.named ? "additionalProperties" : "items"] = std::move(element);
        if (c.describe_first) {
            json::object first = of(c.describe_first);
            first["description"] = c.first.summary;
            all["properties"] = json::object{{c.first.name, std::move(first)}};
        }
        add(k, std::move(all), c.documented);
    }

    void constraint(std::string_view schema) override
    {
        constraints_.push_back(json::parse(schema));
    }

protected:
    json::object properties_;
    json::array required_;

    void add(const key& k, json::object schema, const stated& documented = {})
    {
        if (const auto meaning = k.summary.empty() ? k.meaning : k.summary; !meaning.empty()) {
            schema["description"] = away_from_its_page(meaning);
        }
        if (const std::string comment = comment_of(documented); !comment.empty()) {
            schema["$comment"] = comment;
        }
        properties_[k.name] = std::move(schema);
        if (k.required) {
            required_.emplace_back(k.name);
        }
    }

private:
    json::array constraints_;

    std::uint64_t take(const key& k, const scalar& s) override
    {
        add(k, with_default(s));
        return s.value;
    }

    static json::object with_default(const scalar& s)
    {
        const std::string standard = text_of(s, s.value);
        const auto [min, max] = s.within;
        const std::string bounds = text_of(s, min) + " to " + text_of(s, max);
        switch (s.is) {
            case scalar::kind::flag:
                return {{"type", "boolean"}, {"default", s.value != 0}};
            case scalar::kind::time:
                return {
                    {"type", "string"},
                    {"pattern", duration_pattern},
                    {"default", standard},
                    {"$comment", bounds}};
            case scalar::kind::bytes:
                return {
                    {"type", json::array{"integer", "string"}},
                    {"minimum", min},
                    {"maximum", max},
                    {"pattern", size_pattern},
                    {"default", standard},
                    {"$comment", bounds}};
            case scalar::kind::word:
                return {
                    {"enum", json::array(s.names.begin(), s.names.end())}, {"default", standard}};
            case scalar::kind::whole:
                break;
        }
        return {{"type", "integer"}, {"minimum", min}, {"maximum", max}, {"default", s.value}};
    }
};

// `explaining_line` explains a mapping on one line, whose key has the meaning and most defaults.
class explaining_line final : public explaining {
public:
    // Adds the schema of the mapping to `to`.
    static json::object of(const describe_keys& describe, json::object to)
    {
        explaining_line all;
        describe(all);
        to["additionalProperties"] = false;
        if (!all.required_.empty()) {
            to["required"] = std::move(all.required_);
        }
        to["properties"] = std::move(all.properties_);
        return to;
    }

private:
    std::uint64_t take(const key& k, const scalar& s) override
    {
        json::object schema{{"type", "boolean"}};
        if (s.is == scalar::kind::time) {
            schema = {{"type", json::array{"string"}}, {"pattern", duration_pattern}};
        } else if (s.is == scalar::kind::whole) {
            schema = json::parse(schema_of(s.within)).as_object();
            if (!k.required) {
                schema["default"] = s.value;
            }
        } else if (s.is == scalar::kind::word) {
            schema = {{"enum", json::array(s.names.begin(), s.names.end())}};
            schema["default"] = text_of(s, s.value);
        }
        add(k, std::move(schema));
        return s.value;
    }
};

void explaining::line(const key& k, const line_form& f)
{
    if (!f.otherwise.read) {
        add(k, explaining_line::of(f.describe, is_of("object")), f.documented);
        return;
    }
    json::value other = with_elsewhere(json::parse(f.otherwise.schema));
    add(k,
        if_then_else(
            is_of("object"), explaining_line::of(f.describe, {}), std::move(other.as_object())
        ),
        f.documented);
}

}  // namespace

std::string schema()
{
    draft every_default;
    json::object root{
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"title", "The gateway's configuration"},
        {"$defs",
         json::object{
             {"elsewhere", json::parse(elsewhere)},
             {"key_part", with_elsewhere(json::parse(key_part_schema))}}}};
    for (auto& [name, value] : explaining::of([&](keys& keys) { describe(keys, every_default); })) {
        root[name] = std::move(value);
    }
    // Required keys may be missing if there is an `include`, as they may be in that file.
    root["if"] = json::object{{"required", json::array{"include"}}};
    root["then"] = true;
    root["else"] = json::object{{"required", root["required"]}};
    root.erase("required");
    return json::serialize(root) + '\n';
}

}  // namespace gateway::config
