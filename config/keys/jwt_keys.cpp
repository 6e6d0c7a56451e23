// `describe_jwt` describes the section `jwt`: the tokens whose claims are parts of keys.
#include "config/sections.hpp"
#include "config/text/text_file.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/field.hpp"
#include "gateway/identity/token_keys.hpp"

namespace gateway::config {
namespace {

using carrier = policy::token_rule::carrier;

constexpr std::size_t longest_carrier_name = 128;
constexpr std::size_t longest_jwt_text = 1024;

void load_token_header(section& from, policy::token_rule& rule)
{
    const std::string* const name = from.text("header");
    if (name == nullptr) {
        return;
    }
    const http::field_name id = http::classify(*name);
    if (!is_token(*name, longest_carrier_name)) {
        from.problem("header", "expected the name of a header, got " + quote(*name));
    } else if (http::hop_by_hop.contains(id) || http::from_trusted_peers.contains(id) || id == http::field_name::host || id == http::field_name::cookie) {
        from.problem("header", *name + " never holds a token of the client");
    } else {
        rule.name = base::lower_case(*name);
    }
}

void load_token_cookie(section& from, policy::token_rule& rule)
{
    const std::string* const name = from.text("cookie");
    if (name == nullptr) {
        return;
    }
    if (!is_token(*name, longest_carrier_name)) {
        from.problem("cookie", "expected the name of a cookie, got " + quote(*name));
        return;
    }
    rule.in = carrier::cookie;
    rule.name = *name;
}

void load_token_keys(section& from, policy::token_rule& rule, const draft& d)
{
    const std::string* const path = from.text("keys");
    if (path == nullptr) {
        return;
    }
    rule.keys_file = *path;
    const auto file = read_text_file(beside(d, *path), identity::max_key_set_bytes);
    if (!file.complaint.empty()) {
        from.problem("keys", quote(*path) + ' ' + file.complaint);
        return;
    }
    identity::token_keys read = identity::parse_token_keys(file.text);
    if (!read.complaint.empty()) {
        from.problem("keys", quote(*path) + ": " + read.complaint);
    }
    for (const std::string& key : read.passed_over) {
        from.warning("keys", quote(*path) + ": " + key + "; it is passed over");
    }
    rule.good.keys = std::move(read.keys);
}

void describe_carrier(keys& jwt, policy::token_rule& rule)
{
    jwt.other(
        {"header",
         "the header with the token: `Bearer TOKEN` in `Authorization`, in another one also "
         "`TOKEN` "
         "alone"},
        {.says = {"`Authorization`", "a header name"},
         .read = [&](section& from) { load_token_header(from, rule); },
         .print =
             [&] {
                 return rule.in == carrier::header ? std::optional{yaml(rule.name)} : std::nullopt;
             },
         .optional = true}
    );
    jwt.other(
        {"cookie", "or the cookie with it"},
        {.says = {"none", "a cookie name"},
         .read = [&](section& from) { load_token_cookie(from, rule); },
         .print =
             [&] {
                 return rule.in == carrier::cookie ? std::optional{yaml(rule.name)} : std::nullopt;
             },
         .optional = true}
    );
    jwt.rule([](section& from) {
        if (from.has("header") && from.has("cookie")) {
            from.problem("cookie", "\"header\" says already where the token is; leave one out");
        }
    });
}

// Describes an optional key, whose text a claim of tokens must have.
void describe_expected(keys& jwt, const key& what, std::string& text)
{
    jwt.other(
        what,
        {.says = {"none", "at most 1024 characters"},
         .read =
             [&text, name = what.name](section& from) {
                 const std::string* const written = from.text(name);
                 if (written == nullptr) {
                     return;
                 }
                 if (written->empty() || !is_visible(*written, longest_jwt_text)) {
                     from.problem(name, "expected 1 to 1024 characters of ASCII without spaces");
                 } else {
                     text = *written;
                 }
             },
         .print = [&text] { return text.empty() ? std::nullopt : std::optional{yaml(text)}; },
         .optional = true}
    );
}

void describe_tokens(keys& jwt, policy::token_rule& rule, const draft& d)
{
    describe_carrier(jwt, rule);
    jwt.other(
        {"keys",
         "the file with the JSON Web Key Set (RFC 7517) that tokens are signed with; at most 1 MiB "
         "and 100 keys. It is read at the start and at each reload"},
        {.says = {"none", "a path"},
         .read = [&](section& from) { load_token_keys(from, rule, d); },
         .print = [&] { return yaml(rule.keys_file); }}
    );
    describe_expected(
        jwt, {"issuer", "what `iss` must be; without the key, anything"}, rule.good.issuer
    );
    describe_expected(
        jwt,
        {"audience", "what `aud` must be, or contain; without the key, anything"},
        rule.good.audience
    );
}

}  // namespace

void describe_jwt(keys& root, draft& d)
{
    std::optional<policy::token_rule>& rule = d.policy.token;
    root.mapping(
        {"jwt", {}},
        [&rule, &d](keys& jwt) { describe_tokens(jwt, rule ? *rule : rule.emplace(), d); },
        rule.has_value()
    );
}

}  // namespace gateway::config
