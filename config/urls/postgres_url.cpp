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
#include <sstream>

namespace gateway::config {

namespace {

constexpr const char* expected_url =
    "expected postgresql://[user[:password]@]host[:port][,host...]/database[?parameter=value]";
constexpr const char* default_socket = "/var/run/postgresql";
constexpr const char* default_port = "5432";

// Returns the parameters of the URL, or nothing and a complaint if the text is none.
std::optional<postgres_parameters> parameters_of(const std::string& text, std::string& complaint)
{
    char* said = nullptr;
    const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> all{
        PQconninfoParse(text.c_str(), &said), &PQconninfoFree};
    const std::unique_ptr<char, decltype(&PQfreemem)> freed{said, &PQfreemem};
    if (all == nullptr) {
        // Other messages of libpq's repeat the URL.
        const std::string_view words = said == nullptr ? "" : said;
        const bool is_about_parameter = words.starts_with("invalid URI query parameter");
        complaint =
            is_about_parameter ? std::string{words.substr(0, words.find('\n'))} : expected_url;
        return std::nullopt;
    }
    postgres_parameters found;
    for (const PQconninfoOption* o = all.get(); o->keyword != nullptr; ++o) {
        if (o->val != nullptr && *o->val != '\0') {
            found[o->keyword] = o->val;
        }
    }
    return found;
}

// Adds the parameters of the named service that the URL does not have. Returns what is wrong.
std::string add_service(postgres_parameters& found)
{
    const auto named = found.extract("service");
    if (named.empty()) {
        return {};
    }
    postgres_service service = read_postgres_service(named.mapped(), postgres_service_files());
    for (const auto& [name, value] : service.parameters) {
        if (!is_postgres_parameter(name)) {
            return "service \"" + named.mapped() + "\": unknown parameter " + name;
        }
    }
    found.merge(service.parameters);
    return service.complaint;
}

std::vector<std::string> split(const std::string& list)
{
    std::vector<std::string> all;
    std::istringstream in{list};
    for (std::string one; std::getline(in, one, ',');) {
        all.push_back(one);
    }
    if (list.ends_with(',')) {
        all.emplace_back();
    }
    return all;
}

std::string taken(postgres_parameters& from, const std::string& name)
{
    const auto node = from.extract(name);
    return node.empty() ? std::string{} : node.mapped();
}

// Returns the servers. Each host has a port of its own, or all have one.
std::vector<net::server_address> servers_of(postgres_parameters& from, std::string& complaint)
{
    std::vector<std::string> hosts = split(taken(from, "host"));
    const std::vector<std::string> ports = split(taken(from, "port"));
    if (hosts.empty()) {
        hosts.emplace_back(default_socket);
    }
    if (ports.size() > 1 && ports.size() != hosts.size()) {
        complaint = std::to_string(ports.size()) + " ports for " + std::to_string(hosts.size()) +
                    " hosts: expected one for each, or one for all";
        return {};
    }
    std::vector<net::server_address> servers;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        std::string port = i < ports.size() ? ports[i] : ports.size() == 1 ? ports[0] : "";
        port = port.empty() ? default_port : port;
        const bool is_socket = hosts[i].starts_with('/');
        servers.push_back(
            {.host = is_socket ? "" : hosts[i],
             .port = std::move(port),
             .socket_path = is_socket ? hosts[i] : ""}
        );
    }
    return servers;
}

bool is_port(const std::string& text)
{
    const auto number = base::parse_decimal(text, 65535);
    return number && *number >= 1;
}

// True for a name or an address, which may have a zone. The text may be wrong because libpq takes
// all that follows the first "@" for the host, including what was meant for the password.
bool is_host(const std::string& text)
{
    return is_host_name(text) || base::ip_address::parse(text.substr(0, text.find('%')));
}

}  // namespace

parsed<store::postgres_options> parse_postgres_url(const std::string& text)
{
    std::string complaint;
    std::optional<postgres_parameters> found = parameters_of(text, complaint);
    if (!found) {
        return {std::nullopt, complaint};
    }
    complaint = add_service(*found);
    if (!complaint.empty()) {
        return {std::nullopt, complaint};
    }
    complaint = complaint_of(*found);
    if (!complaint.empty()) {
        return {std::nullopt, complaint};
    }
    store::postgres_options options;
    options.servers = servers_of(*found, complaint);
    if (!complaint.empty()) {
        return {std::nullopt, complaint};
    }
    options.password = taken(*found, "password");
    options.parameters.assign(found->begin(), found->end());
    if (options.servers.size() > store::postgres_options::most_servers) {
        return {
            std::nullopt,
            "too many hosts, the maximum is " +
                std::to_string(store::postgres_options::most_servers)};
    }
    for (const net::server_address& s : options.servers) {
        if (!is_port(s.port)) {
            return {std::nullopt, "the port must be a number from 1 to 65535"};
        }
        if (s.host.empty() && s.socket_path.empty()) {
            return {std::nullopt, std::string{"a host is missing: "} + expected_url};
        }
        if (s.socket_path.empty() && !is_host(s.host)) {
            return {
                std::nullopt,
                std::string{"the host must be a name or an IP address: "} + expected_url};
        }
    }
    return {std::move(options), {}};
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
        const bool is_ipv6 = s.host.find(':') != std::string::npos;
        const std::string host = is_ipv6 ? '[' + s.host + ']' : encoded(s.host + s.socket_path);
        url += (i == 0 ? "" : ",") + host + ':' + s.port;
    }
    return url + database + rest;
}

}  // namespace gateway::config
