// `describe_tracing` describes the section `tracing`: which requests are recorded, and where their
// spans go.
#include "config/sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/base/text.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace gateway::config {
namespace {

using exporting = probes::collector_options;
using tracing::sampling;

constexpr std::size_t max_headers = 16;
constexpr std::size_t longest_trace_header = 128;
constexpr std::size_t longest_header_value = 4096;
constexpr std::size_t longest_endpoint = 1024;
constexpr std::size_t longest_service_name = 255;

std::string take_endpoint(const std::string& text, exporting& options)
{
    constexpr const char* expected =
        "expected http://HOST[:PORT][/PATH] or https://HOST[:PORT][/PATH], as "
        "http://127.0.0.1:4318";
    const auto url = boost::urls::parse_uri(text);
    const bool has_scheme = text.starts_with("http://") || text.starts_with("https://");
    if (text.size() > longest_endpoint || !url || !has_scheme || url->has_userinfo() ||
        url->has_query() || url->has_fragment() || url->host_address().empty()) {
        return expected;
    }
    const bool secure = url->scheme() == "https";
    const std::string host = url->host_address();
    const std::uint16_t port = url->has_port() ? url->port_number() : secure ? 443 : 4318;
    if ((!is_host_name(host) && !base::ip_address::parse(host)) || port == 0) {
        return expected;
    }
    options.endpoint = text;
    options.host = host;
    options.port = std::to_string(port);
    options.path = std::string{url->encoded_path()};
    while (options.path.ends_with('/')) {
        options.path.pop_back();
    }
    options.path += options.path.ends_with("/v1/traces") ? "" : "/v1/traces";
    if (secure) {
        options.tls.emplace();
    }
    return {};
}

// Takes "1%" or "0.01%".
std::string take_share(std::string_view text, sampling& rules)
{
    constexpr double most = 100;
    double percent = -1;
    const bool is_percent = text.ends_with('%');
    text.remove_suffix(is_percent ? 1 : 0);
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, percent, std::chars_format::fixed);
    if (!is_percent || read.ec != std::errc{} || read.ptr != end || !(percent >= 0) ||
        percent > most) {
        return "expected a part of all traces from 0% to 100%, as 1% or 0.05%";
    }
    rules.share = static_cast<std::uint32_t>(std::lround(percent * sampling::all / most));
    return {};
}

std::string percent_of(const sampling& rules)
{
    std::string text = std::to_string(rules.share / 10'000);
    if (const std::uint32_t rest = rules.share % 10'000; rest != 0) {
        std::string digits = std::to_string(rest);
        digits.insert(0, 4 - digits.size(), '0');
        digits.erase(digits.find_last_not_of('0') + 1);
        text += '.' + digits;
    }
    return text + '%';
}

std::string take_kept(const std::string& text, sampling& rules)
{
    bool* const kept = text == "rejected" ? &rules.keep_rejected
                       : text == "errors" ? &rules.keep_errors
                                          : nullptr;
    if (kept == nullptr) {
        return "expected rejected or errors, got " + quote(text);
    }
    *kept = true;
    return {};
}

std::string print_kept(const sampling& rules)
{
    std::vector<std::string> kept;
    if (rules.keep_rejected) {
        kept.emplace_back("rejected");
    }
    if (rules.keep_errors) {
        kept.emplace_back("errors");
    }
    return kept.empty() ? std::string{} : yaml_list(kept);
}

std::string take_header(const std::string& name, const std::string& value, exporting& options)
{
    constexpr std::array<std::string_view, 5> ours{
        "host", "content-type", "content-length", "transfer-encoding", "connection"};
    const std::string lower = base::lower_case(name);
    if (!is_token(name, longest_trace_header)) {
        return "expected the name of a header, got " + quote(name);
    }
    if (std::find(ours.begin(), ours.end(), lower) != ours.end()) {
        return name + " is for the gateway to say";
    }
    if (value.empty() || !is_printable(value, longest_header_value)) {
        return "expected 1 to 4096 printable ASCII characters";
    }
    options.headers.emplace_back(name, value);
    return {};
}

void read_headers(section& from, exporting& options)
{
    const node& all = *from.find("headers");
    if (all.is != node::kind::mapping || all.entries.size() > max_headers) {
        from.problem("headers", "expected a mapping of at most 16 names of headers to values");
        return;
    }
    from.each_text("headers", "a header's value", [&](const auto& name, const std::string* text) {
        return text == nullptr ? std::string{} : take_header(name, *text, options);
    });
}

// Prints the names. Each value may be a credential.
std::string print_headers(const exporting& options)
{
    return yaml_mapping(options.headers, [](const auto& header) {
        return std::pair{header.first, "\"***\""};
    });
}

std::string complaint_about_service(const std::string& name)
{
    return !name.empty() && is_visible(name, longest_service_name)
               ? ""
               : "expected 1 to 255 printable ASCII characters without spaces";
}

void describe_headers(keys& k, exporting& options)
{
    k("headers", "names and values of headers for the collector, such as a token")
        .other(
            {.documented = {"`{}`", "at most 16, values of at most 4096 printable characters"},
             .schema = R"({"type":"object","maxProperties":16,
                 "additionalProperties":{"type":"string","maxLength":4096}})",
             .read = [&](section& from) { read_headers(from, options); },
             .print = [&] { return print_headers(options); }}
        );
}

void check_collector_tls(section& from, std::optional<net::tls_client_options>& tls)
{
    if (from.has("tls") && !tls) {
        from.problem("tls", "is for an \"endpoint\" that begins with https://");
    } else if (tls && !from.has("tls")) {
        net::tls_client::prepare(*tls);  // with nothing but the system's certificates
    }
}

void describe_collector_tls(keys& k, std::optional<net::tls_client_options>& tls, const draft& d)
{
    net::tls_client_options unused;
    const auto describe = [&](keys& inner) {
        constexpr std::string_view name =
            "the name that the collector's certificate must be for, instead of the host in "
            "`endpoint`";
        describe_tls_client(inner, tls ? *tls : unused, name, d);
    };
    k("tls",
      "says how the collector is verified and which certificate the gateway has, for "
      "`https://`; the keys below. The files are read again at each reload")
        .mapping(describe, tls.has_value());
    k.rule([&tls](section& from) { check_collector_tls(from, tls); });
}

}  // namespace

void describe_tracing(keys& root, draft& d)
{
    sampling& rules = d.result.sampling;
    exporting& options = d.result.exporting;
    constexpr key itself{.name = "tracing", .summary = "spans of requests, sent to a collector"};
    root(itself).mapping([&](keys& k) {
        k("endpoint",
          "the URL of a collector that takes OTLP over HTTP; `/v1/traces` is added to it. The "
          "port is 4318 for `http` and 443 for `https`, unless it is given. Without the URL "
          "nothing is recorded")
            .text(
                {.documented = {"none", "`http://HOST[:PORT][/PATH]`, or with `https`"},
                 .schema = R"({"type":"string","pattern":"^https?://[^?#]+$"})",
                 .take = [&](const std::string& text) { return take_endpoint(text, options); },
                 .print = [&] { return yaml_or_nothing(options.endpoint); }}
            );
        k("sample",
          "the share of traces that begin here which are recorded. A request of a trace that "
          "began elsewhere is recorded if its `traceparent` says so")
            .text(
                {.documented = {"`1%`", "0% to 100%"},
                 .schema = R"({"type":"string","pattern":"^[0-9]+([.][0-9]+)?%$"})",
                 .take = [&](const std::string& text) { return take_share(text, rules); },
                 .print = [&] { return yaml(percent_of(rules)); }}
            );
        k("keep",
          "records requests in any case: those that limits refuse (`rejected`), and those that "
          "end with a status of 500 and above (`errors`)")
            .texts(
                {.documented = {"`[]`", "`rejected`, `errors`"},
                 .schema = R"({"type":"array","items":{"enum":["rejected","errors"]}})",
                 .max = 2,
                 .expected = "rejected or errors",
                 .take = [&](const std::string& text) { return take_kept(text, rules); },
                 .print = [&] { return print_kept(rules); }}
            );
        describe_headers(k, options);
        describe_collector_tls(k, options.tls, d);
        k("service_name", "the name by which the collector knows these spans")
            .text(options.service_name, {"`gateway`", "a text"}, complaint_about_service);
        k.rule([&](section&) { rules.on = !options.endpoint.empty(); });
    });
}

}  // namespace gateway::config
