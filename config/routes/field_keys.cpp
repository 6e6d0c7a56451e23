// Keys by which a route sets and removes header fields.
#include "config/routes/credential_fields.hpp"
#include "config/routes/route_sections.hpp"
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
bool is_about_limits(std::string_view name)
{
    constexpr std::string_view beginning = "x-ratelimit-";
    return http::reads_as(name.substr(0, beginning.size()), beginning) ||
           is_one_of(name, {"ratelimit", "ratelimit-policy", "retry-after", "x-over-limit"});
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
    if (is_about_limits(name)) {
        return "says what limits leave, which is for the gateway to say";
    }
    if (id == field_name::x_request_id) {
        return "is the request's id, which is for the gateway to say";
    }
    return of == message::response && id == field_name::date ? "is in every response" : "";
}

// Returns what is wrong with a name, unless it may be edited and is not edited yet.
std::string complaint_about(const std::string& name, const http::field_edits& edits, message of)
{
    const auto same = [&name](std::string_view other) { return http::reads_as(name, other); };
    const auto sets_same = [&](const auto& s) { return same(s.first); };
    if (!is_token(name, longest_field_name)) {
        return "expected the name of a header, got " + quote(name);
    }
    if (const auto why = reserved_because(name, of); !why.empty()) {
        return quote(name) + " " + std::string(why);
    }
    const bool again = std::any_of(edits.set.begin(), edits.set.end(), sets_same) ||
                       std::any_of(edits.remove.begin(), edits.remove.end(), same);
    return again ? quote(name) + " is there already" : "";
}

void read_set(section& from, http::field_edits& edits, message of)
{
    const node& all = *from.find("set");
    if (all.is != node::kind::mapping) {
        from.problem("set", "expected a mapping from names of headers to values");
        return;
    }
    if (all.entries.size() > max_fields) {
        from.problem("set", "at most 64 headers");
        return;
    }
    from.each_text(
        "set",
        "a header's value",
        [&](const std::string& name, const std::string* text) {
            std::string complaint = complaint_about(name, edits, of);
            if (!complaint.empty() || text == nullptr) {
                return complaint;
            }
            if (!is_field_value(*text, longest_value)) {
                return std::string{
                    "expected at most 4096 printable ASCII characters, without spaces around them"};
            }
            edits.set.emplace_back(name, *text);
            return complaint;
        }
    );
    edits.finish();
}

std::string take_removed(const std::string& name, http::field_edits& edits, message of)
{
    std::string complaint = complaint_about(name, edits, of);
    if (complaint.empty()) {
        edits.remove.push_back(name);
    }
    return complaint;
}

}  // namespace

void describe_fields(keys& k, http::field_edits& edits, message of)
{
    k("set", "names and values: each replaces all fields of its name")
        .other(
            {.documented = {"`{}`", "at most 64, values of at most 4096 printable characters"},
             .schema = R"({"type":"object","maxProperties":64,
                 "additionalProperties":{"type":"string","maxLength":4096}})",
             .read = [&](section& from) { read_set(from, edits, of); },
             .print = [&] { return yaml_fields(edits.set); }}
        );
    k("remove", "names of fields that are left out")
        .texts(
            {.documented = {"`[]`", "at most 64"},
             .schema = R"({"type":"array","items":{"type":"string"},"maxItems":64})",
             .max = max_fields,
             .expected = "the name of a header",
             .take = [&](const std::string& name) { return take_removed(name, edits, of); },
             .print = [&] { return edits.remove.empty() ? "" : yaml_list(edits.remove); }}
        );
}

}  // namespace gateway::config
