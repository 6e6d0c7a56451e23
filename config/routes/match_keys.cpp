// Key `match` of a route: which requests the route is for.
#include "config/routes/credential_fields.hpp"
#include "config/routes/route_name.hpp"
#include "config/routes/route_sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/base/text.hpp"
#include "gateway/content/json_number.hpp"
#include "gateway/content/json_paths.hpp"
#include "gateway/http/field.hpp"
#include "gateway/policy/paths/path.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using http::field_name;
using policy::url_scheme;

constexpr std::size_t longest_matched_name = 64;

bool is_host(std::string_view text)
{
    if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
        const auto ip = base::ip_address::parse(text.substr(1, text.size() - 2));
        return ip && text.find(':') != std::string_view::npos;
    }
    return is_host_name(text);
}

std::string take_host(const std::string& text, std::string& host)
{
    const bool wildcard = text.starts_with("*.");
    const std::string name = text.substr(wildcard ? 2 : 0);
    if (text == "*") {
        return "leave the key out to match any host";
    }
    if (wildcard && (!is_host_name(name) || ends_in_number(name))) {
        return "expected a host name behind \"*.\", got " + quote(text);
    }
    if (!wildcard && !is_host(name)) {
        return "expected a host name without a port, got " + quote(text);
    }
    policy::normalise_host(name, host);
    host.insert(0, wildcard ? "*." : "");
    return {};
}

std::string take_method(const std::string& method, std::vector<std::string>& methods)
{
    if (std::string complaint = complaint_about_method(method); !complaint.empty()) {
        return complaint;
    }
    if (std::find(methods.begin(), methods.end(), method) != methods.end()) {
        return "this method is listed already";
    }
    methods.push_back(method);
    return {};
}

std::string take_scheme(const std::string& text, url_scheme& scheme)
{
    scheme = text == "https" ? url_scheme::https : url_scheme::http;
    return text == "http" || text == "https" ? "" : "expected http or https, got " + quote(text);
}

std::string print_scheme(url_scheme scheme)
{
    return scheme == url_scheme::any ? "" : scheme == url_scheme::https ? "https" : "http";
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

// Returns what is wrong with a name, unless the route can match by the header and does not yet.
std::string complaint_about(
    const std::string& name, const std::vector<policy::header_match>& headers
)
{
    const auto same = [&name](const policy::header_match& h) {
        return base::equal_ignoring_case(h.name, name);
    };
    if (!is_token(name, longest_matched_name)) {
        return "expected the name of a header, got " + quote(name);
    }
    if (const auto why = unmatchable_because(name); !why.empty()) {
        return quote(name) + " " + std::string(why);
    }
    return std::any_of(headers.begin(), headers.end(), same) ? "this header is listed already" : "";
}

void load_headers(section& from, std::vector<policy::header_match>& headers)
{
    const node& all = *from.find("headers");
    if (all.is != node::kind::mapping || all.entries.empty() ||
        all.entries.size() > policy::max_header_matches) {
        from.problem("headers", "expected a mapping from 1 to 8 names of headers to values");
        return;
    }
    from.each_text("headers", "a header's value", [&](const auto& name, const std::string* text) {
        std::string complaint = complaint_about(name, headers);
        if (!complaint.empty() || text == nullptr) {
            return complaint;
        }
        if (text->empty() || !is_field_value(*text, policy::max_header_match_bytes)) {
            return std::string{
                "expected 1 to 128 printable ASCII characters, without spaces around them"};
        }
        headers.push_back({base::lower_case(name), *text});
        return complaint;
    });
    std::sort(headers.begin(), headers.end());
}

// True if YAML has a number here that no member of JSON has as its value
// (content/json_scanner.hpp).
bool is_unmatchable_number(const node& members, std::string_view path)
{
    const auto found =
        std::find_if(members.entries.begin(), members.entries.end(), [path](const entry& e) {
            return e.key.text == path;
        });
    const std::string_view text = found->value.text;
    return found->value.plain && text.find_first_of("0123456789") != std::string_view::npos &&
           text.find_first_not_of("0123456789.eE+-") == std::string_view::npos &&
           text != std::to_string(content::whole_number(text).value_or(0));
}

void load_members(section& from, std::vector<policy::json_match>& members)
{
    const node& all = *from.find("json");
    if (all.is != node::kind::mapping || all.entries.empty() ||
        all.entries.size() > policy::max_header_matches) {
        from.problem("json", "expected a mapping from 1 to 8 paths of members to values");
        return;
    }
    from.each_text("json", "a member's value", [&](const auto& path, const std::string* text) {
        if (!content::json_paths::parse(path)) {
            return std::string{"expected a path such as params.name"};
        }
        if (text == nullptr) {
            return std::string{};
        }
        if (text->empty() || text->size() > policy::max_header_match_bytes) {
            return std::string{"expected 1 to 128 bytes"};
        }
        if (is_unmatchable_number(all, path)) {
            return std::string{"expected an integer in its digits, or a text in quotes"};
        }
        members.push_back({path, *text});
        return std::string{};
    });
    std::sort(members.begin(), members.end());
}

std::string print_members(const std::vector<policy::json_match>& members)
{
    return yaml_mapping(members, [](const policy::json_match& m) {
        return std::pair{m.path, yaml(m.value)};
    });
}

// Reads `path` or `path_exact`.
void load_path(section& from, std::string_view key, policy::route_match& match)
{
    match.exact = key == "path_exact";
    if (match.exact && from.has("path")) {
        from.problem(key, "a route has either path or path_exact");
    }
    std::string path;
    from.take_text(key, [&](const std::string& text) { return take_path(text, path); });
    if (!path.empty()) {
        match.path = path;
    }
    if (path.find_first_of("*{") != std::string::npos) {
        from.warning(key, "\"*\" and \"{\" are ordinary characters; \"path\" is a prefix anyway");
    }
}

// Describes `path` or `path_exact`. It is printed if that is what the route has.
void describe_path(keys& k, const key& what, std::string_view standard, policy::route_match& match)
{
    const bool exact = what.name == "path_exact";
    k(what)
        .printed_if(!match.path.empty() && match.exact == exact)
        .other(
            {.documented = {standard, "at most 512 characters"},
             .schema = R"({"type":"string","pattern":"^/[!-~]*$","maxLength":512})",
             .read = [&](section& from) { load_path(from, what.name, match); },
             .print = [&] { return yaml(encoded_path(match.path)); }}
        );
}

void check_case(section& from, const policy::route_match& match)
{
    if (!match.ignore_case) {
        return;
    }
    if (!from.has("path") && !from.has("path_exact")) {
        from.problem("ignore_case", "has no effect without \"path\" or \"path_exact\"");
    } else if (!has_letters_of_ascii(match.path)) {
        from.problem(
            "ignore_case",
            "knows the letters A to Z only, and the path has others: match a path above it"
        );
    }
}

void describe_host(keys& k, policy::route_match& match)
{
    k("scheme",
      "the scheme: what a trusted peer's `X-Forwarded-Proto` says, else that of the connection")
        .text(
            {.documented = {"any", "`http`, `https`"},
             .schema = R"({"enum":["http","https"]})",
             .take = [&](const std::string& text) { return take_scheme(text, match.scheme); },
             .print = [&] { return print_scheme(match.scheme); }}
        );
    k("host",
      "the host without a port; letter case and a final dot do not matter. `*.example.com` is "
      "every host that ends so, with one label or more in front")
        .text(match.host, {"any", "a host name, or one behind `*.`"}, take_host);
}

}  // namespace

void describe_match(keys& k, policy::route_match& match)
{
    describe_host(k, match);
    describe_path(
        k,
        {"path",
         "the beginning of the path, by whole segments: `/v1` and `/v1/` cover `/v1`, `/v1/` and "
         "`/v1/x`, not `/v10`"},
        "any",
        match
    );
    describe_path(
        k,
        {"path_exact",
         "the whole path, instead of `path`, with or without a `/` at its end. Of two routes "
         "that differ in that `/` only, a request has the one that is written as its own path"},
        "",
        match
    );
    k("ignore_case",
      "compares the path without regard to the case of the letters A to Z, for servers that do so. "
      "The key part `path` is then in lower case")
        .flag(match.ignore_case);
    k.rule([&](section& from) { check_case(from, match); });
    k("methods", "the methods, in capitals; without this key, unknown methods match too")
        .texts(
            {.documented = {"any", "at most 32"},
             .schema =
                 R"({"type":"array","items":{"type":"string","pattern":"^(?!CONNECT$)[^a-z ]+$"},"minItems":1,"maxItems":32})",
             .max = max_methods,
             .expected = "a method such as GET",
             .take = [&](const std::string& text) { return take_method(text, match.methods); },
             .print = [&] { return match.methods.empty() ? "" : yaml_list(match.methods); },
             .if_empty = "empty: leave the key out to match every method"}
        );
    k("headers",
      "values of headers, all of which a request must have, each once: `{ x-env: prod }`. The case "
      "of letters matters in values, not in names")
        .other(
            {.documented = {"any", "at most 8"},
             .schema = R"({"type":"object","minProperties":1,"maxProperties":8,
                 "additionalProperties":{"type":"string","minLength":1,"maxLength":128}})",
             .read = [&](section& from) { load_headers(from, match.headers); },
             .print = [&] { return yaml_fields(match.headers); }}
        );
    k("json",
      "values of members of the request's JSON content, all of which a request must have: "
      "`{ method: tools/call }`. A request without content, or whose content has no such member, "
      "goes on to the next route; one whose content cannot be read in one way is refused with 400 "
      "(below)")
        .other(
            {.documented = {"any", "at most 8"},
             .schema = R"({"type":"object","minProperties":1,"maxProperties":8,
                 "additionalProperties":{"type":["string","integer","boolean"]}})",
             .read = [&](section& from) { load_members(from, match.json); },
             .print = [&] { return print_members(match.json); }}
        );
}

}  // namespace gateway::config
