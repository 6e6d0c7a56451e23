#include "config/routes/field_keys.hpp"

#include "config/keys/draft.hpp"
#include "config/routes/credential_fields.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/field.hpp"

namespace gateway::config {
namespace {

using http::field_name;

constexpr std::size_t max_fields = 64;
constexpr std::size_t longest_field_name = 128;
constexpr std::size_t longest_value = 4096;

constexpr std::string_view set_schema =
    R"({"type":"object","maxProperties":64,
    "additionalProperties":{"type":"string","maxLength":4096}})";
constexpr std::string_view remove_schema =
    R"({"type":"array","items":{"type":"string"},"maxItems":64})";

// Fields by which the gateway knows clients, and vouches for them.
constexpr http::field_name_set identity_fields{
    field_name::forwarded,
    field_name::x_forwarded_for,
    field_name::x_forwarded_host,
    field_name::x_forwarded_proto,
    field_name::x_real_ip,
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names)
{
    return std::any_of(names.begin(), names.end(), [name](std::string_view n) {
        return http::reads_as(name, n);
    });
}

// True if the field tells of limits. Each "X-RateLimit-" field does: other proxies, too, say there
// what their limits leave.
bool tells_of_limits(std::string_view name)
{
    constexpr std::string_view beginning = "x-ratelimit-";
    return http::reads_as(name.substr(0, beginning.size()), beginning) ||
           is_one_of(name, {"ratelimit", "ratelimit-policy", "retry-after"});
}

// Returns why the configuration may not edit a field; empty if it may.
std::string_view reserved_because(std::string_view name, message of)
{
    const field_name id = http::classify(name);
    if (id == field_name::content_length || id == field_name::host || id == field_name::expect) {
        return id == field_name::host ? "write \"host\" of the route" : "is part of the framing";
    }
    if (http::hop_by_hop.contains(id) || id == field_name::via || id == field_name::max_forwards) {
        return "is about one connection, and the gateway's own";
    }
    if (identity_fields.contains(id) || is_one_of(name, {"client-cert", "client-cert-chain"})) {
        return "says who the client is, which is for the gateway to say";
    }
    if (tells_of_limits(name)) {
        return "says what limits leave, which is for the gateway to say";
    }
    if (id == field_name::x_request_id) {
        return "is the request's id, which is for the gateway to say";
    }
    return of == message::response && id == field_name::date ? "is in every response" : "";
}

// True if the name may be edited and is not edited yet. Otherwise reports a problem.
bool check_name(
    const located& at,
    const std::string& name,
    const http::field_edits& edits,
    message of,
    findings& found
)
{
    const auto same = [&name](std::string_view other) { return http::reads_as(name, other); };
    const bool again =
        std::any_of(
            edits.set.begin(), edits.set.end(), [&](const auto& s) { return same(s.first); }
        ) ||
        std::any_of(edits.remove.begin(), edits.remove.end(), same);
    if (!is_token(name, longest_field_name)) {
        found.problem(at.value->at, at.path, "expected the name of a header, got " + quote(name));
    } else if (const auto why = reserved_because(name, of); !why.empty()) {
        found.problem(at.value->at, at.path, quote(name) + " " + std::string(why));
    } else if (again) {
        found.problem(at.value->at, at.path, quote(name) + " is there already");
    } else {
        return true;
    }
    return false;
}

bool is_field_value(std::string_view text)
{
    return text.size() <= longest_value && base::trimmed(text) == text &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

void read_set(section& from, http::field_edits& edits, message of)
{
    findings& found = from.found();
    const node& all = *from.find("set");
    if (all.is != node::kind::mapping) {
        from.problem("set", "expected a mapping from names of headers to values");
        return;
    }
    if (all.entries.size() > max_fields) {
        from.problem("set", "at most 64 headers");
        return;
    }
    for (const entry& e : all.entries) {
        const located value{&e.value, joined(from.path_of("set"), e.key.text)};
        const std::string* text = scalar_text(value, "a header's value", found);
        if (!check_name(value, e.key.text, edits, of, found) || text == nullptr) {
            continue;
        }
        if (!is_field_value(*text)) {
            found.problem(
                e.value.at,
                value.path,
                "expected at most 4096 printable ASCII characters, without spaces around them"
            );
        } else {
            edits.set.emplace_back(e.key.text, *text);
        }
    }
    edits.finish();
}

void read_remove(section& from, http::field_edits& edits, message of)
{
    findings& found = from.found();
    const auto list = from.list("remove");
    if (!list || !within(*list, max_fields, found)) {
        return;
    }
    for (std::size_t i = 0; i < list->value->items.size(); ++i) {
        const located item = item_of(*list, i);
        const std::string* name = scalar_text(item, "the name of a header", found);
        if (name != nullptr && check_name(item, *name, edits, of, found)) {
            edits.remove.push_back(*name);
        }
    }
}

std::optional<std::string> print_set(const http::field_edits& edits)
{
    return edits.set.empty() ? std::nullopt : std::optional{yaml_fields(edits.set)};
}

std::optional<std::string> print_remove(const http::field_edits& edits)
{
    if (edits.remove.empty()) {
        return std::nullopt;
    }
    return yaml_list(edits.remove, [](const std::string& name) { return name; });
}

}  // namespace

void describe_fields(keys& k, http::field_edits& edits, message of)
{
    k.other(
        {"set", "names and values: each replaces all fields of its name"},
        {.says = {"`{}`", "at most 64, values of at most 4096 printable characters"},
         .schema = set_schema,
         .read = [&edits, of](section& from) { read_set(from, edits, of); },
         .print = [&edits] { return print_set(edits); }}
    );
    k.other(
        {"remove", "names of fields that are left out"},
        {.says = {"`[]`", "at most 64"},
         .schema = remove_schema,
         .read = [&edits, of](section& from) { read_remove(from, edits, of); },
         .print = [&edits] { return print_remove(edits); }}
    );
}

}  // namespace gateway::config
