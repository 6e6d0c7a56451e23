// `describe_log_fields` describes the parts of requests that the operator wants in the access log,
// and refuses those that carry credentials.
#include "config/keys/key_parts.hpp"
#include "config/sections.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>

namespace gateway::config {
namespace {

using source = policy::key_part::source;

// Parts of names that tell of a credential, in lower case.
constexpr std::array<std::string_view, 12> credential_words{
    "authorization",
    "cookie",
    "key",
    "token",
    "secret",
    "passw",
    "credential",
    "signature",
    "session",
    "sess_",
    "sessid",
    "jwt"};

// Names with such a part that carry none.
constexpr std::array<std::string_view, 2> harmless{"idempotency-key", "x-idempotency-key"};

// Names that the text format has for values of its own.
constexpr std::array<std::string_view, 18> taken_names{
    "peer",
    "host",
    "route",
    "upstream",
    "limit",
    "outcome",
    "plan",
    "bucket",
    "shadow_rejected",
    "decided",
    "cost",
    "costs",
    "request_id",
    "grpc_status",
    "server",
    "upstream_seconds",
    "attempts",
    "error"};

template <std::size_t Count>
bool is_one_of(std::string_view text, const std::array<std::string_view, Count>& all)
{
    return std::find(all.begin(), all.end(), text) != all.end();
}

bool carries_credential(const policy::key_part& part, const draft& d)
{
    if (part.from != source::header && part.from != source::cookie && part.from != source::query) {
        return false;
    }
    const auto& token = d.policy.token;
    const bool has_token =
        token && token->name == part.name &&
        part.from ==
            (token->in == policy::token_rule::carrier::header ? source::header : source::cookie);
    const std::string name = base::lower_case(part.name);
    return has_token ||
           (!is_one_of(name, harmless) &&
            std::any_of(credential_words.begin(), credential_words.end(), [&name](auto piece) {
                return name.find(piece) != std::string::npos;
            }));
}

void load_field(const std::string& name, const located& value, draft& d, findings& found)
{
    if (is_one_of(name, taken_names)) {
        found.problem(value, "each line has this field already: choose another name");
        return;
    }
    auto part = load_part(value, found);
    if (!part) {
        return;
    }
    if (part->from == source::descriptor) {
        found.problem(value, "only keys of limits and plans have entries of descriptors");
        return;
    }
    if (carries_credential(*part, d)) {
        found.problem(
            value,
            to_text(*part) +
                " carries a credential by its name, and the log would have it in the clear: choose "
                "a part that identifies without it, as jwt:sub does"
        );
        return;
    }
    require_jwt(value, {&*part, 1}, d, found);
    require_certificates(value, {&*part, 1}, d, found);
    mark_headers_of_trusted_peers(value, {&*part, 1}, d.policy.client, found);
    d.policy.log_fields.push_back({name, *std::move(part)});
}

void load_fields(section& log, draft& d)
{
    for (const auto& [name, value] : log.named("fields", policy::max_log_fields)) {
        load_field(name, value, d, log.found());
    }
}

std::string print_fields(const std::vector<policy::log_field>& fields)
{
    return yaml_mapping(fields, [](const policy::log_field& f) {
        return std::pair{f.name, yaml(to_text(f.part))};
    });
}

}  // namespace

void describe_log_fields(keys& log, draft& d)
{
    log("fields",
        "adds fields to the lines of requests: names of yours, and parts of requests as in a "
        "limit's `key`, which then stand there in the clear. A part that carries a credential "
        "is refused")
        .other(
            {.documented = {"`{}`", "at most 16; 256 bytes of each value"},
             .schema = R"({"type":"object","maxProperties":16,
                 "additionalProperties":{"$ref":"#/$defs/key_part"}})",
             .read = [&](section& from) { load_fields(from, d); },
             .print = [&] { return print_fields(d.policy.log_fields); }}
        );
}

}  // namespace gateway::config
