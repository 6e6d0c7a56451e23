#include "config/urls/postgres_url.hpp"

#include "config/text/text_rules.hpp"
#include "config/urls/postgres_parameters.hpp"
#include "config/urls/postgres_service.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/base/text.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include <memory>
#include <postgresql/libpq-fe.h>
#include <vector>

namespace gateway::config {

namespace {

constexpr const char* expected_url =
    "expected postgresql://[user[:password]@]host[:port][,host...]/database[?parameter=value]";
constexpr const char* default_socket = "/var/run/postgresql";
constexpr const char* default_port = "5432";

postgres_parameters parameters_of(const std::string& text)
{
    char* error = nullptr;
    const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> all{
        PQconninfoParse(text.c_str(), &error), &PQconninfoFree};
    const std::unique_ptr<char, decltype(&PQfreemem)> freed{error, &PQfreemem};
    if (all == nullptr) {
        // Other messages of libpq's repeat the URL.
        const std::string_view words = error == nullptr ? "" : error;
        const bool is_about_parameter = words.starts_with("invalid URI query parameter");
        throw invalid_url{
            is_about_parameter ? std::string{words.substr(0, words.find('\n'))} : expected_url};
    }
    postgres_parameters found;
    for (const PQconninfoOption* o = all.get(); o->keyword != nullptr; ++o) {
        if (o->val != nullptr && *o->val != '\0') {
            found[o->keyword] = o->val;
        }
    }
    return found;
}

// Adds the parameters of the named service that the URL does not have.
void add_service(postgres_parameters& found)
{
    const auto named = found.extract("service");
    if (named.empty()) {
        return;
    }
    postgres_service service = read_postgres_service(named.mapped(), postgres_service_files());
    if (!service.complaint.empty()) {
        throw invalid_url{service.complaint};
    }
    for (const auto& [name, value] : service.parameters) {
        if (!is_postgres_parameter(name)) {
            throw invalid_url{"service \"" + named.mapped() + "\": unknown parameter " + name};
        }
    }
    found.merge(service.parameters);
}

std::string taken(postgres_parameters& from, const std::string& name)
{
    const auto node = from.extract(name);
    return node.empty() ? std::string{} : node.mapped();
}

std::vector<std::string> elements(const std::string& list)
{
    std::vector<std::string> all;
    base::for_each_element(list, ',', [&](std::string_view one) { all.emplace_back(one); });
    return all;
}

// The host may be wrong because libpq takes all that follows the first "@" for it, including what
// was meant for the password. An address may have a zone.
net::server_address server_of(const std::string& host, const std::string& port)
{
    if (base::parse_decimal(port, 65535).value_or(0) == 0) {
        throw invalid_url{"the port must be a number from 1 to 65535"};
    }
    if (host.starts_with('/')) {
        return {{}, port, host};
    }
    if (host.empty()) {
        throw invalid_url{std::string{"a host is missing: "} + expected_url};
    }
    if (!is_host_name(host) && !base::ip_address::parse(host.substr(0, host.find('%')))) {
        throw invalid_url{std::string{"the host must be a name or an IP address: "} + expected_url};
    }
    return {host, port, {}};
}

// Returns the servers. Each host has a port of its own, or all have one.
std::vector<net::server_address> servers_of(postgres_parameters& from)
{
    const std::string list = taken(from, "host");
    const std::vector<std::string> hosts = elements(list.empty() ? default_socket : list);
    const std::vector<std::string> ports = elements(taken(from, "port"));
    if (ports.size() > 1 && ports.size() != hosts.size()) {
        throw invalid_url{
            std::to_string(ports.size()) + " ports for " + std::to_string(hosts.size()) +
            " hosts: expected one for each, or one for all"};
    }
    if (hosts.size() > store::postgres_options::most_servers) {
        throw invalid_url{
            "too many hosts, the maximum is " +
            std::to_string(store::postgres_options::most_servers)};
    }
    std::vector<net::server_address> servers;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const std::string& port = ports[ports.size() == 1 ? 0 : i];
        servers.push_back(server_of(hosts[i], port.empty() ? default_port : port));
    }
    return servers;
}

}  // namespace

parsed<store::postgres_options> parse_postgres_url(const std::string& text)
try {
    postgres_parameters found = parameters_of(text);
    add_service(found);
    check_postgres_parameters(found);
    store::postgres_options options;
    options.servers = servers_of(found);
    options.password = taken(found, "password");
    options.parameters.assign(found.begin(), found.end());
    return {std::move(options), {}};

} catch (const invalid_url& invalid) {
    return {std::nullopt, invalid.complaint};
}

std::string url_without_secret(const store::postgres_options& options)
{
    namespace urls = boost::urls;
    const auto encoded = [](const std::string& value) {
        return urls::encode(value, urls::unreserved_chars);
    };
    std::string user;
    std::string database;
    std::string rest;
    for (const auto& [name, value] : options.parameters) {
        if (name == "user") {
            user = encoded(value);
        } else if (name == "dbname") {
            database = '/' + encoded(value);
        } else {
            rest += (rest.empty() ? '?' : '&') + name + '=';
            rest += is_postgres_secret(name) ? "***" : encoded(value);
        }
    }
    const bool has_password = !options.password.empty() && options.password_file.empty();
    std::string url = "postgresql://" + user + (has_password ? ":***" : "");
    url += user.empty() && !has_password ? "" : "@";
    for (std::size_t i = 0; i < options.servers.size(); ++i) {
        const net::server_address& s = options.servers[i];
        url += i == 0 ? "" : ",";
        const bool is_ipv6 = s.host.find(':') != std::string::npos;
        url += is_ipv6 ? s.text() : encoded(s.host + s.socket_path) + ':' + s.port;
    }
    return url + database + rest;
}

}  // namespace gateway::config
