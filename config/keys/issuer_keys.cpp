// `describe_issuer` describes the keys of `jwt` that say how keys are fetched from an issuer.
#include "config/sections.hpp"
#include "config/text/text_rules.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/base/text.hpp"
#include "gateway/identity/key_fetch_state.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <array>

namespace gateway::config {
namespace {

using issuer_options = probes::issuer_options;
using no_keys = issuer_options::no_keys;

constexpr std::size_t longest_issuer_url = 1024;
constexpr times issuer_timeouts{std::chrono::milliseconds{10}, std::chrono::minutes{1}};
constexpr times issuer_refreshes{
    identity::key_fetch_state::shortest_life, identity::key_fetch_state::longest_life};
constexpr words<no_keys, 2> no_keys_words{
    std::pair{"closed", no_keys::closed}, {"wait", no_keys::wait}};

// Checks the keys together. Without `tls`, the system's authorities vouch for the issuer.
void check_issuer(section& from, issuer_options& options)
{
    constexpr std::array<std::string_view, 4> of_urls{"tls", "timeout", "refresh", "on_no_keys"};
    for (const std::string_view key : of_urls) {
        if (options.url.empty() && from.has(key)) {
            from.problem(key, "is for keys that are fetched, from an https:// URL in \"keys\"");
        }
    }
    if (!options.url.empty() && !from.has("tls")) {
        net::tls_client::prepare(options.tls);
    }
}

}  // namespace

std::string take_issuer_url(const std::string& text, issuer_options& options)
{
    if (!text.starts_with("https://")) {
        return "keys are fetched from https:// URLs only, as anybody on the way could hand in keys "
               "of their own; or name a file";
    }
    const auto url = boost::urls::parse_uri(text);
    const std::string host = url ? std::string{url->host_address()} : std::string{};
    const bool is_host = is_host_name(host) || base::ip_address::parse(host);
    const std::string_view stated = url && url->has_port() ? url->port() : "443";
    const auto port = base::parse_decimal(stated, 65535).value_or(0);
    if (text.size() > longest_issuer_url || !is_host || url->has_userinfo() ||
        url->has_fragment() || port == 0) {
        return "expected https://HOST[:PORT]/PATH, as https://id.example.com/jwks.json";
    }
    options.url = text;
    options.host = host;
    options.port = std::to_string(port);
    options.target = url->encoded_path().empty() ? "/" : std::string{url->encoded_path()};
    if (url->has_query()) {
        options.target.append("?").append(url->encoded_query());
    }
    return {};
}

void describe_issuer(keys& k, issuer_options& options, const draft& d)
{
    const bool fetched = !options.url.empty();
    const bool has_tls = !options.tls.ca.path.empty() || !options.tls.server_name.empty();
    const auto describe_tls = [&](keys& inner) {
        constexpr std::string_view name =
            "the name that the issuer's certificate must be for, instead of the host in `keys`";
        describe_verified_server(inner, options.tls, name, d);
    };
    k("tls",
      "says how the server of a URL in `keys` is verified; the keys below. The file is read again "
      "at each reload")
        .mapping(describe_tls, has_tls);
    k("timeout",
      "bounds one fetch of the keys, and the wait of a request whose token names a key that is not "
      "known yet")
        .printed_if(fetched)
        .time(options.timeout, issuer_timeouts);
    k("refresh",
      "the time after which the keys are fetched again. The `max-age` of the issuer's "
      "`Cache-Control` counts instead, within the same range")
        .printed_if(fetched)
        .time(options.refresh, issuer_refreshes);
    k("on_no_keys",
      "says what happens until keys have been fetched for the first time: `closed` answers 503 to "
      "requests with a token, and with `wait` the process is not ready either (`/readyz`)")
        .printed_if(fetched)
        .word(options.on_no_keys, no_keys_words);
    k.rule([&options](section& from) { check_issuer(from, options); });
}

}  // namespace gateway::config
