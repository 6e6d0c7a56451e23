#include "config/schema.hpp"

#include "config/keys/key_parts.hpp"
#include "config/sections.hpp"
#include "config/text/units.hpp"

#include <boost/json.hpp>

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
        return if_then_else(is_of("object"), ref_elsewhere(), std::move(*object));
    }
    for (auto& [name, value] : *object) {
        if (name != "if") {
            value = with_elsewhere(std::move(value));
        }
    }
    return schema;
}

class explaining final : public keys {
public:
    // Returns the schema of a mapping.
    static json::object of(const std::function<void(keys&)>& describe)
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

    void flag(const key& k, bool& value) override
    {
        add(k, {{"type", "boolean"}, {"default", value}});
    }

    void time(const key& k, base::duration& value, base::duration min, base::duration max) override
    {
        add(k,
            {{"type", "string"},
             {"pattern", "^(0|[1-9][0-9]*)(ms|s|m|h|d)$"},
             {"default", format_duration(value)},
             {"$comment", format_duration(min) + " to " + format_duration(max)}});
    }

    void other(const key& k, const form& f) override
    {
        json::object schema = json::parse(f.schema).as_object();
        add(k,
            f.inner ? one_or_list(or_mapping(std::move(schema), of(f.inner)))
                    : with_elsewhere(std::move(schema)).as_object());
        if (f.says.standard == "none" && !f.optional) {
            required_.emplace_back(k.name);
        }
    }

    void mapping(const key& k, const std::function<void(keys&)>& describe, bool) override
    {
        add(k, of(describe));
    }

    void each(const key& k, const collection& c) override
    {
        json::object element = of([&c](keys& one) { c.describe(c.size(), one); });
        json::object all{{"type", c.named ? "object" : "array"}};
        if (!c.named && c.says.standard == "none") {
            all["minItems"] = 1;
        }
        all[c.named ? "additionalProperties" : "items"] = std::move(element);
        if (c.describe_first) {
            json::object first = of(c.describe_first);
            all["properties"] = json::object{{c.first.name, std::move(first)}};
        }
        add(k, std::move(all));
        if (c.says.standard == "none") {
            required_.emplace_back(k.name);
        }
    }

    void constraint(std::string_view schema) override
    {
        constraints_.push_back(json::parse(schema));
    }

private:
    json::object properties_;
    json::array required_;
    json::array constraints_;

    // Returns a schema for a text or a mapping.
    static json::object or_mapping(json::object text, json::object mapping)
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

    static json::object one_or_list(const json::object& one)
    {
        return if_then_else(is_of("array"), {{"minItems", 1}, {"items", one}}, one);
    }

    void add(const key& k, json::object schema)
    {
        if (!k.meaning.empty()) {
            schema["description"] = k.meaning;
        }
        properties_[k.name] = std::move(schema);
    }

    std::uint64_t whole(const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max)
        override
    {
        add(k, {{"type", "integer"}, {"minimum", min}, {"maximum", max}, {"default", value}});
        return value;
    }

    std::uint64_t bytes(const key& k, std::uint64_t value, std::uint64_t min, std::uint64_t max)
        override
    {
        add(k,
            {{"type", json::array{"integer", "string"}},
             {"minimum", min},
             {"maximum", max},
             {"pattern", "^(0|[1-9][0-9]*)(KiB|MiB|GiB|TiB)?$"},
             {"default", format_size(value)},
             {"$comment", format_size(min) + " to " + format_size(max)}});
        return value;
    }

    std::size_t choice(const key& k, std::size_t value, std::span<const std::string_view> names)
        override
    {
        add(k, {{"enum", json::array(names.begin(), names.end())}, {"default", names[value]}});
        return value;
    }
};

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
