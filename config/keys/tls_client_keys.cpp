#include "config/keys/tls_client_keys.hpp"

#include "config/keys/pem_keys.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/ip_address.hpp"

namespace gateway::config {
namespace {

void load_server_name(section& from, std::string& name)
{
    const std::string* const text = from.text("server_name");
    if (text == nullptr) {
        return;
    }
    if (is_host_name(*text) || base::ip_address::parse(*text)) {
        name = *text;
    } else {
        from.problem("server_name", "expected a host name or an IP address, got " + quote(*text));
    }
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
    keys& tls, net::tls_client_options& options, std::string_view server_name, const draft& d
)
{
    describe_pem(
        tls,
        {"ca", "certificates of those who may vouch for the server, instead of the system's"},
        options.ca,
        d
    );
    describe_pem(
        tls,
        {"cert", "our certificate, for a server that asks for one, and those that vouch for it"},
        options.certificate,
        d
    );
    describe_pem(tls, {"key", "the key of `cert`, without a passphrase"}, options.key, d);
    tls.other(
        {"server_name", server_name},
        {.says = {"none", "a host name or IP address"},
         .read = [&](section& from) { load_server_name(from, options.server_name); },
         .print = [&]() -> std::optional<std::string> {
             const std::string& name = options.server_name;
             return name.empty() ? std::nullopt : std::optional{yaml(name)};
         },
         .optional = true}
    );
    tls.flag(
        {"verify", "off: whoever answers is believed to be the server, also who is not"},
        options.verify
    );
    tls.rule([&options](section& from) { check(from, options); });
}

}  // namespace gateway::config
