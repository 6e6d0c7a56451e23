// `describe_listener_tls` describes `tls` of a listener.
#include "config/keys/pem_keys.hpp"
#include "config/sections.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/clock.hpp"
#include "gateway/net/tls/revocation_lists.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using namespace std::chrono_literals;
using net::client_certificates;

constexpr std::size_t max_certificates = 1000;
constexpr base::duration longest_handshake = 5min;
constexpr std::size_t longest_tickets_file = 4096;

constexpr words<net::tls_version, 2> versions{
    {{"1.2", net::tls_version::v1_2}, {"1.3", net::tls_version::v1_3}}};

constexpr words<client_certificates, 3> client_rules{
    {{"none", client_certificates::none},
     {"optional", client_certificates::optional},
     {"require", client_certificates::require}}};

void describe_certificate(keys& k, net::server_certificate& one, const draft& d)
{
    describe_pem(
        k("cert",
          "a file with a certificate, and behind it those that vouch for it, each for the one "
          "before",
          required),
        one.certificate,
        d
    );
    describe_pem(
        k("key", "a file with the key of `cert`, without a passphrase", required), one.key, d
    );
}

void load_certificates(section& tls, std::vector<net::server_certificate>& all, const draft& d)
{
    constexpr std::string_view if_empty = "at least one certificate is needed";
    tls.each_item("certificates", max_certificates, if_empty, [&](const located& item) {
        read_mapping(item, tls.found(), [&](keys& k) {
            describe_certificate(k, all.emplace_back(), d);
        });
    });
}

std::string take_ciphers(const std::string& text, std::string& ciphers)
{
    if (text.empty()) {
        return "must not be empty: leave the key out for \"modern\"";
    }
    ciphers = text == "modern" ? "" : text;
    return {};
}

// Adds a problem. The complaint begins with the position, as in "certificates[0].key: ...".
void complain(section& tls, const std::string& complaint)
{
    const std::size_t colon = complaint.find(':');
    const std::size_t end = std::min(complaint.find('['), colon);
    const std::string key = complaint.substr(0, end);
    const node* const written = tls.find(key);
    tls.found().problem(
        written == nullptr ? tls.at() : written->at,
        tls.path_of(key) + complaint.substr(end, colon - end),
        complaint.substr(colon + 2)
    );
}

// True if a running listener uses the certificates or lists of that file.
bool is_in_force(const net::pem_file& file, const settings& running)
{
    const auto& listeners = running.server.listeners;
    return std::any_of(listeners.begin(), listeners.end(), [&](const auto& l) {
        const auto shown = [&](const auto& one) { return one.certificate.text == file.text; };
        return l.tls &&
               (l.tls->client_ca.text == file.text || l.tls->client_crl.text == file.text ||
                std::any_of(l.tls->certificates.begin(), l.tls->certificates.end(), shown));
    });
}

// Checks that the certificates are valid now. A reload must not replace a good one with one that is
// not. One that is already in force hinders no other change, and at a start there is nothing
// better.
void check_dates(section& tls, const net::tls_server_options& options, const settings* running)
{
    const auto is_new = [running](const net::pem_file& file) {
        return running != nullptr && !is_in_force(file, *running);
    };
    for (const net::server_certificate& one : options.certificates) {
        const std::string complaint = outdated_in(one.certificate).complaint;
        if (!complaint.empty() && is_new(one.certificate)) {
            tls.problem("certificates", complaint + ", and was not shown before this reload");
        } else if (!complaint.empty()) {
            tls.warning("certificates", complaint);
        }
    }
    // Some of several authorities may be invalid, if others are valid.
    const outdated authorities = outdated_in(options.client_ca);
    if (authorities.all && is_new(options.client_ca)) {
        tls.problem("client_ca", authorities.complaint + ", and was not in force before");
    } else if (!authorities.complaint.empty()) {
        tls.warning("client_ca", authorities.complaint);
    }
}

// Checks the revocation lists. All clients of an authority are refused while its list is not valid.
// A list that is already in force hinders no other change.
void check_lists(section& tls, const net::tls_server_options& options, const settings* running)
{
    constexpr std::string_view key = "client_crl";
    const net::pem_file& file = options.client_crl;
    const auto facts = net::revocation_facts_of(file.text, options.client_ca.text);
    if (!facts) {
        return;  // there is no list, or its problem was found already
    }
    const auto which = [&](std::size_t number) {
        return "list " + std::to_string(number) + " in " + quote(file.path);
    };
    if (facts->foreign > 0) {
        tls.problem(key, which(facts->foreign) + " is signed by no authority in \"client_ca\"");
        return;
    }
    const auto now = std::chrono::floor<std::chrono::seconds>(base::unix_time());
    for (std::size_t i = 0; i < facts->holds.size(); ++i) {
        const net::validity& v = facts->holds[i];
        if (v.not_before <= now && now <= v.not_after) {
            continue;
        }
        const std::string what =
            which(i + 1) + (v.not_after < now ? " has expired" : " is not valid yet");
        if (running != nullptr && is_in_force(file, *running)) {
            tls.warning(key, what + ": clients of its authority are refused");
        } else {
            tls.problem(key, what + ": clients of its authority would be refused");
        }
    }
}

void check(section& tls, const net::tls_server_options& options, const settings* running)
{
    const bool asks = options.clients != client_certificates::none;
    if (asks && options.client_ca.path.empty()) {
        tls.problem("client_certificates", "\"client_ca\" must say who vouches for clients");
        return;
    }
    for (const auto& [key, is_set] :
         {std::pair{"client_ca", !options.client_ca.path.empty()},
          {"client_crl", !options.client_crl.path.empty()},
          {"forward_client_cert", options.forward_client_cert}}) {
        if (!asks && is_set) {
            tls.warning(key, "has no effect without \"client_certificates\"");
        }
    }
    const auto& all = options.certificates;
    const auto is_bad = [](const auto& c) {
        return c.certificate.text.empty() || c.key.text.empty();
    };
    if (all.empty() || std::any_of(all.begin(), all.end(), is_bad)) {
        return;  // the problem was found already
    }
    if (const auto complaint = net::tls_server::check(options)) {
        complain(tls, *complaint);
        return;
    }
    check_dates(tls, options, running);
    if (asks) {
        check_lists(tls, options, running);
    }
}

void describe_certificates(keys& k, net::tls_server_options& options, const draft& d)
{
    k("certificates",
      "the certificates. The name that a client asks for chooses one: that for exactly this "
      "name, else a wildcard for it, else the first. An ECDSA and an RSA certificate may be for "
      "the same name",
      required)
        .each(
            {.documented = {"none", "1 to 1000"},
             .named = false,
             .read = [&](section& from) { load_certificates(from, options.certificates, d); },
             .size = [&] { return options.certificates.size(); },
             .describe = of_each(
                 options.certificates,
                 [&d](keys& one, net::server_certificate& c) { describe_certificate(one, c, d); }
             )}
        );
    k("min_version", "the oldest version of TLS that a client may use")
        .word(options.min_version, versions);
    k("ciphers",
      "the ciphers of TLS 1.2; `modern` is ECDHE with AES-GCM or ChaCha20. The ciphers of TLS "
      "1.3 are OpenSSL's")
        .text(
            {.documented = {"`modern`", "`modern`, or a list as OpenSSL has it"},
             .take = [&](const std::string& text) { return take_ciphers(text, options.ciphers); },
             .print = [&] { return options.ciphers.empty() ? "modern" : yaml(options.ciphers); }}
        );
}

void describe_clients(keys& k, net::tls_server_options& options, const draft& d)
{
    k("client_certificates",
      "says whether clients are asked for a certificate, and whether they must have one. A "
      "request is then answered 421 if its Host is not the name that the client asked for in "
      "the handshake")
        .word(options.clients, client_rules);
    describe_pem(
        k("client_ca", "certificates of the authorities that may vouch for clients"),
        options.client_ca,
        d
    );
    describe_pem(
        k("client_crl",
          "lists of revoked certificates (CRL), one of each authority in `client_ca` that signs "
          "clients. A client is refused if a list has its certificate, or if its authority has no "
          "list. The file is read again at each reload"),
        options.client_crl,
        d
    );
    k("forward_client_cert",
      "tells upstreams of a client's certificate, in `Client-Cert` and `Client-Cert-Chain` (RFC "
      "9440). Such fields of clients never reach upstreams")
        .flag(options.forward_client_cert);
}

void describe_tls_server(keys& k, net::tls_server_options& options, const draft& d)
{
    describe_certificates(k, options, d);
    describe_clients(k, options, d);
    k("handshake_timeout",
      "bounds the time from accepting a connection, or from its PROXY header, to the end of the "
      "handshake")
        .time(options.handshake_timeout, {.max = longest_handshake});
    describe_file(
        k("tickets_file",
          "a file with the keys of session tickets that several gateways share: 1 to 3 keys of 80 "
          "bytes (`openssl rand 80`, as nginx has them), of which the first is for new tickets. "
          "It is read again at each reload. Without it the gateway makes its own keys, a new one "
          "every 12 hours"),
        options.tickets,
        {"none", "a path"},
        longest_tickets_file,
        d
    );
    k.rule([&options, &d](section& from) { check(from, options, d.running); });
}

}  // namespace

void describe_listener_tls(
    keys& listener, std::optional<net::tls_server_options>& out, const draft& d
)
{
    listener(
        "tls",
        "makes the listener's connections TLS; the keys below. A reload may change the keys and "
        "their files, which open connections do not notice"
    )
        .mapping(out, [&d](keys& k, net::tls_server_options& options) {
            describe_tls_server(k, options, d);
        });
}

}  // namespace gateway::config
