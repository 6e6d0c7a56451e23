// `describe_jwt` describes the section `jwt`: the tokens whose claims are parts of keys.
#include "config/sections.hpp"
#include "config/text/secrets.hpp"
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

std::string take_header(const std::string& name, policy::token_rule& rule)
{
    const http::field_name id = http::classify(name);
    if (!is_token(name, longest_carrier_name)) {
        return "expected the name of a header, got " + quote(name);
    }
    if (http::hop_by_hop.contains(id) || http::from_trusted_peers.contains(id) ||
        id == http::field_name::host || id == http::field_name::cookie) {
        return name + " never holds a token of the client";
    }
    rule.name = base::lower_case(name);
    return {};
}

std::string take_cookie(const std::string& name, policy::token_rule& rule)
{
    if (!is_token(name, longest_carrier_name)) {
        return "expected the name of a cookie, got " + quote(name);
    }
    rule.in = carrier::cookie;
    rule.name = name;
    return {};
}

// Takes a URL of keys, which are fetched when the gateway runs. The keys that a running one has
// from the same URL stay.
void take_token_url(section& from, const std::string& url, policy::token_rule& rule, draft& d)
{
    if (const std::string wrong = take_issuer_url(url, d.result.issuer); !wrong.empty()) {
        from.problem("keys", wrong);
        return;
    }
    const auto* const before =
        d.running != nullptr && d.running->policy->token ? &*d.running->policy->token : nullptr;
    if (before != nullptr && before->keys_from == url) {
        rule.good.keys = before->good.keys;
    }
}

void load_token_keys(section& from, policy::token_rule& rule, draft& d)
{
    const std::string* const path = from.text("keys");
    if (path == nullptr) {
        return;
    }
    rule.keys_from = *path;
    if (is_url(*path)) {
        take_token_url(from, *path, rule, d);
        return;
    }
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

// Checks what a claim of tokens must be.
std::string complaint_about_claim(const std::string& text)
{
    return text.empty() || !is_visible(text, longest_jwt_text)
               ? "expected 1 to 1024 characters of ASCII without spaces"
               : "";
}

void describe_tokens(keys& k, policy::token_rule& rule, draft& d)
{
    const auto name_in = [&rule](carrier in) {
        return [&rule, in] { return rule.in == in ? yaml(rule.name) : ""; };
    };
    k("header",
      "the header with the token: `Bearer TOKEN` in `Authorization`, in another one also `TOKEN` "
      "alone")
        .text(
            {.documented = {"`Authorization`", "a header name"},
             .take = [&](const std::string& name) { return take_header(name, rule); },
             .print = name_in(carrier::header)}
        );
    k("cookie", "the cookie with the token, instead of a header")
        .text(
            {.documented = {"none", "a cookie name"},
             .take = [&](const std::string& name) { return take_cookie(name, rule); },
             .print = name_in(carrier::cookie)}
        );
    k.rule([](section& from) {
        if (from.has("header") && from.has("cookie")) {
            from.problem("cookie", "\"header\" says already where the token is; leave one out");
        }
    });
    k("keys",
      "the JSON Web Key Set (RFC 7517) by which tokens are verified: a file, which is read at the "
      "start and at each reload, or an `https://` URL, from which it is fetched. At most 1 MiB and "
      "100 keys",
      required)
        .other(
            {.documented = {"none", "a path, or `https://HOST[:PORT]/PATH`"},
             .read = [&](section& from) { load_token_keys(from, rule, d); },
             .print = [&] { return yaml(with_query_hidden(rule.keys_from)); }}
        );
    describe_issuer(k, d.result.issuer, d);
    k.rule([&rule, &d](section&) {
        const probes::issuer_options& issuer = d.result.issuer;
        rule.fetch_timeout = issuer.url.empty() ? base::duration{0} : issuer.timeout;
    });
    constexpr stated documented{"none", "at most 1024 characters"};
    k("issuer", "the value that `iss` of a token must have; without this key, any")
        .text(rule.good.issuer, documented, complaint_about_claim);
    k("audience", "the value that `aud` of a token must be, or contain; without this key, any")
        .text(rule.good.audience, documented, complaint_about_claim);
}

}  // namespace

void describe_jwt(keys& root, draft& d)
{
    constexpr key itself{
        .name = "jwt", .summary = "tokens that say which user calls, for key parts `jwt:CLAIM`"};
    root(itself).mapping(d.policy.token, [&d](keys& k, policy::token_rule& rule) {
        describe_tokens(k, rule, d);
    });
}

}  // namespace gateway::config
