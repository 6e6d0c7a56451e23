// `describe_tls_client` describes `tls` of an upstream, of a store or of `tracing`, and
// `describe_verified_server` that of an issuer, which has fewer keys.
#include "config/keys/pem_keys.hpp"
#include "config/sections.hpp"
#include "config/text/text_rules.hpp"
#include "gateway/base/ip_address.hpp"

namespace gateway::config {
namespace {

std::string complaint_about_server(const std::string& name)
{
    return is_host_name(name) || base::ip_address::parse(name)
               ? ""
               : "expected a host name or an IP address, got " + quote(name);
}

void describe_authorities(keys& k, net::tls_client_options& options, const draft& d)
{
    describe_pem(
        k("ca",
          "certificates of the authorities that may vouch for the server, instead of the system's"),
        options.ca,
        d
    );
}

void describe_server_name(keys& k, net::tls_client_options& options, std::string_view server_name)
{
    k("server_name", server_name)
        .text(options.server_name, {"none", "a host name or IP address"}, complaint_about_server);
}

// Checks the keys together. The complaint of prepare() begins with the key's name.
void check(section& from, net::tls_client_options& options)
{
    if (options.certificate.path.empty() != options.key.path.empty()) {
        from.problem(
            options.key.path.empty() ? "cert" : "key",
            "\"cert\" and \"key\" belong together; the other one is missing"
        );
        return;
    }
    if (const auto complaint = net::tls_client::prepare(options)) {
        const std::size_t colon = complaint->find(':');
        from.problem(complaint->substr(0, colon), complaint->substr(colon + 2));
        return;
    }
    for (const auto& [key, file] : {std::pair{"ca", &options.ca}, {"cert", &options.certificate}}) {
        if (const outdated found = outdated_in(*file); !found.complaint.empty()) {
            from.warning(key, found.complaint);
        }
    }
}

}  // namespace

void describe_tls_client(
    keys& k, net::tls_client_options& options, std::string_view server_name, const draft& d
)
{
    describe_authorities(k, options, d);
    describe_pem(
        k("cert",
          "the gateway's certificate, for a server that asks for one, and behind it those that "
          "vouch for it"),
        options.certificate,
        d
    );
    describe_pem(k("key", "the key of `cert`, without a passphrase"), options.key, d);
    describe_server_name(k, options, server_name);
    k("verify",
      "checks that the server is the right one. With `false`, whoever answers is taken for "
      "the server")
        .flag(options.verify);
    k.rule([&options](section& from) { check(from, options); });
}

void describe_verified_server(
    keys& k, net::tls_client_options& options, std::string_view server_name, const draft& d
)
{
    describe_authorities(k, options, d);
    describe_server_name(k, options, server_name);
    k.rule([&options](section& from) { check(from, options); });
}

}  // namespace gateway::config
