#include "config/routes/match_keys.hpp"

#include "config/keys/draft.hpp"
#include "config/routes/credential_fields.hpp"
#include "config/routes/path_text.hpp"
#include "config/routes/route_name.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/field.hpp"
#include "gateway/policy/path.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using http::field_name;
using policy::url_scheme;

constexpr std::size_t longest_method = 32;
constexpr std::size_t longest_matched_name = 64;
constexpr std::string_view headers_schema =
    R"({"type":"object","minProperties":1,"maxProperties":8,
    "additionalProperties":{"type":"string","minLength":1,"maxLength":128}})";

std::string in_capitals(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return text;
}

bool is_host(std::string_view text)
{
    if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
        const auto ip = base::ip_address::parse(text.substr(1, text.size() - 2));
        return ip && text.find(':') != std::string_view::npos;
    }
    return is_host_name(text);
}

void load_host(section& from, policy::route_match& match)
{
    const std::string* text = from.text("host");
    if (text == nullptr) {
        return;
    }
    const bool wildcard = text->starts_with("*.");
    const std::string name = text->substr(wildcard ? 2 : 0);
    if (*text == "*") {
        from.problem("host", "leave the key out to match any host");
    } else if (wildcard && (!is_host_name(name) || ends_in_number(name))) {
        from.problem("host", "expected a host name behind \"*.\", got " + quote(*text));
    } else if (!wildcard && !is_host(name)) {
        from.problem("host", "expected a host name without a port, got " + quote(*text));
    } else {
        policy::normalise_host(name, match.host);
        match.host.insert(0, wildcard ? "*." : "");
    }
}

void load_path(section& from, std::string_view key, policy::route_match& match)
{
    const auto path = read_path(from, key);
    if (!path) {
        return;
    }
    match.path = *path;
    if (path->find_first_of("*{") != std::string::npos) {
        from.warning(key, "\"*\" and \"{\" are ordinary characters; \"path\" is a prefix anyway");
    }
}

void load_methods(section& from, std::vector<std::string>& methods)
{
    findings& found = from.found();
    const auto list = from.list("methods");
    if (!list || !within(*list, max_methods, found)) {
        return;
    }
    if (list->value->items.empty()) {
        from.problem("methods", "empty: leave the key out to match every method");
    }
    for (std::size_t i = 0; i < list->value->items.size(); ++i) {
        const located item = item_of(*list, i);
        const std::string* text = scalar_text(item, "a method such as GET", found);
        if (text == nullptr) {
            continue;
        }
        if (!is_token(*text, longest_method)) {
            found.problem(
                item.value->at, item.path, "expected a method such as GET, got " + quote(*text)
            );
        } else if (const std::string capitals = in_capitals(*text); *text != capitals) {
            found.problem(
                item.value->at, item.path, "methods are case-sensitive: write " + capitals
            );
        } else if (*text == "CONNECT") {
            found.problem(item.value->at, item.path, "CONNECT is never served: no request matches");
        } else if (std::find(methods.begin(), methods.end(), *text) != methods.end()) {
            found.problem(item.value->at, item.path, "this method is listed already");
        } else {
            methods.push_back(*text);
        }
    }
}

void load_scheme(section& from, url_scheme& scheme)
{
    const std::string* const text = from.text("scheme");
    if (text == nullptr) {
        return;
    }
    if (*text != "http" && *text != "https") {
        from.problem("scheme", "expected http or https, got " + quote(*text));
    }
    scheme = *text == "https" ? url_scheme::https : url_scheme::http;
}

std::optional<std::string> print_scheme(url_scheme scheme)
{
    if (scheme == url_scheme::any) {
        return std::nullopt;
    }
    return scheme == url_scheme::https ? "https" : "http";
}

// Returns why a route cannot match by a header; empty if it can.
std::string_view unmatchable_because(std::string_view name)
{
    const field_name id = http::classify(name);
    if (id == field_name::host || id == field_name::x_forwarded_host) {
        return "is matched by \"host\"";
    }
    if (id == field_name::x_forwarded_proto) {
        return "is matched by \"scheme\"";
    }
    if (http::from_trusted_peers.contains(id)) {
        return "is taken from trusted proxies only";
    }
    if (id == field_name::client_cert) {
        return "is never taken from clients";
    }
    const bool is_framing = http::hop_by_hop.contains(id) || id == field_name::content_length ||
                            id == field_name::expect;
    return is_framing ? "is about one connection or the framing" : "";
}

// True if the route can match by the header and does not yet. Otherwise reports a problem.
bool check_matched_name(
    const located& at,
    const std::string& name,
    const std::vector<policy::header_match>& headers,
    findings& found
)
{
    const auto same = [&name](const policy::header_match& h) {
        return base::equal_ignoring_case(h.name, name);
    };
    if (!is_token(name, longest_matched_name)) {
        found.problem(at.value->at, at.path, "expected the name of a header, got " + quote(name));
    } else if (const auto why = unmatchable_because(name); !why.empty()) {
        found.problem(at.value->at, at.path, quote(name) + " " + std::string(why));
    } else if (std::any_of(headers.begin(), headers.end(), same)) {
        found.problem(at.value->at, at.path, "this header is listed already");
    } else {
        return true;
    }
    return false;
}

bool is_matched_value(std::string_view text)
{
    return !text.empty() && text.size() <= policy::max_header_match_bytes &&
           base::trimmed(text) == text &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

void load_headers(section& from, std::vector<policy::header_match>& headers)
{
    findings& found = from.found();
    const node& all = *from.find("headers");
    if (all.is != node::kind::mapping || all.entries.empty() ||
        all.entries.size() > policy::max_header_matches) {
        from.problem("headers", "expected a mapping from 1 to 8 names of headers to values");
        return;
    }
    for (const entry& e : all.entries) {
        const located value{&e.value, joined(from.path_of("headers"), e.key.text)};
        const std::string* const text = scalar_text(value, "a header's value", found);
        if (!check_matched_name(value, e.key.text, headers, found) || text == nullptr) {
            continue;
        }
        if (!is_matched_value(*text)) {
            found.problem(
                e.value.at,
                value.path,
                "expected 1 to 128 printable ASCII characters, without spaces around them"
            );
        } else {
            headers.push_back({base::lower_case(e.key.text), *text});
        }
    }
    std::sort(headers.begin(), headers.end());
}

// Returns the form of `path` or of `path_exact`. It is printed if that is what the route has.
form path_form(std::string_view name, policy::route_match& match, bool exact)
{
    return {
        .says = {exact ? "" : "any", "at most 512 characters"},
        .schema = R"({"type":"string","pattern":"^/[!-~]*$","maxLength":512})",
        .read =
            [name, exact, &match](section& from) {
                if (exact && from.has("path")) {
                    from.problem(name, "a route has either path or path_exact");
                }
                match.exact = exact;
                load_path(from, name, match);
            },
        .print = [exact, &match]() -> std::optional<std::string> {
            if (match.path.empty() || match.exact != exact) {
                return std::nullopt;
            }
            return yaml(encoded_path(match.path));
        }};
}

void check_case(section& from, const policy::route_match& match)
{
    const std::string& path = match.path;
    if (!match.ignore_case) {
        return;
    }
    if (!from.has("path") && !from.has("path_exact")) {
        from.problem("ignore_case", "has no effect without \"path\" or \"path_exact\"");
    } else if (std::any_of(path.begin(), path.end(), [](char c) {
                   return static_cast<unsigned char>(c) >= 0x80;
               })) {
        from.problem(
            "ignore_case",
            "knows the letters A to Z only, and the path has others: match a path above it"
        );
    }
}

}  // namespace

void describe_match(keys& k, policy::route_match& match)
{
    k.other(
        {"scheme",
         "`https`, as the connection is or a trusted peer's `X-Forwarded-Proto` says, or `http`"},
        {.says = {"any", "`http`, `https`"},
         .schema = R"({"enum":["http","https"]})",
         .read = [&](section& from) { load_scheme(from, match.scheme); },
         .print = [&] { return print_scheme(match.scheme); }}
    );
    k.other(
        {"host",
         "without port; letter case and a final dot do not matter. `*.example.com` is every host "
         "that ends so, with one label or more in front"},
        {.says = {"any", "a host name, or one behind `*.`"},
         .read = [&](section& from) { load_host(from, match); },
         .print = [&]() -> std::optional<std::string> {
             return match.host.empty() ? std::nullopt : std::optional{yaml(match.host)};
         }}
    );
    k.other(
        {"path",
         "a prefix by whole segments: `/v1` and `/v1/` cover `/v1`, `/v1/` and `/v1/x`, not "
         "`/v10`"},
        path_form("path", match, false)
    );
    k.other(
        {"path_exact",
         "instead of `path`: one path, with or without a `/` at its end. Of two routes that differ "
         "in that `/` only, a request has the one that is written as its own path"},
        path_form("path_exact", match, true)
    );
    k.flag(
        {"ignore_case",
         "compares the path without regard to the case of the letters A to Z, for servers that do "
         "so. The key part `path` is then in lower case"},
        match.ignore_case
    );
    k.rule([&](section& from) { check_case(from, match); });
    k.other(
        {"methods", "in capitals; without the key, unknown methods match too"},
        {.says = {"any", "at most 32"},
         .schema =
             R"({"type":"array","items":{"type":"string","pattern":"^[^a-z ]+$"},"minItems":1,"maxItems":32})",
         .read = [&](section& from) { load_methods(from, match.methods); },
         .print = [&]() -> std::optional<std::string> {
             if (match.methods.empty()) {
                 return std::nullopt;
             }
             return yaml_list(match.methods, [](const std::string& m) { return m; });
         }}
    );
    k.other(
        {"headers",
         "values of headers, all of which a request must have, each once: `{ x-env: prod }`. The "
         "case of letters matters in values, not in names"},
        {.says = {"any", "at most 8"},
         .schema = headers_schema,
         .read = [&](section& from) { load_headers(from, match.headers); },
         .print = [&]() -> std::optional<std::string> {
             if (match.headers.empty()) {
                 return std::nullopt;
             }
             return yaml_fields(match.headers);
         }}
    );
}

}  // namespace gateway::config
