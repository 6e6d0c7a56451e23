#include "config/urls/store_url.hpp"

#include "config/text/text_rules.hpp"
#include "config/text/units.hpp"
#include "config/urls/postgres_url.hpp"
#include "gateway/base/chars.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/base/text.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/pchars.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>

namespace gateway::config {
namespace {

namespace urls = boost::urls;

constexpr std::uint64_t max_database = 65535;
constexpr std::size_t max_credential = 512;
constexpr const char* expected_form =
    "expected redis://[user:password@]host[:port][/db], rediss:// of the same form, "
    "unix:///path?db=0, redis-sentinel://[user:password@]host[:port],host/MASTER[/db], "
    "redis-cluster://[user:password@]host[:port],host, rediss-sentinel:// or rediss-cluster:// of "
    "the same form, or postgresql://...";
constexpr const char* encoding_hint =
    "; in a user or password write @ as %40, / as %2F, ? as %3F, # as %23, % as %25, space as %20";

int database_of(std::string_view digits)
{
    const auto number = parse_number(digits);
    if (!number || *number > max_database) {
        throw invalid_url{"the database must be a number up to " + std::to_string(max_database)};
    }
    return static_cast<int>(*number);
}

void read_credentials(const urls::url_view& url, store::redis_options& options)
{
    if (!url.has_userinfo()) {
        return;
    }
    options.user = url.user();
    options.password = url.password();
    if (options.user.size() > max_credential || options.password.size() > max_credential) {
        throw invalid_url{"user or password too long, the maximum is 512 bytes"};
    }
}

constexpr const char* bad_port = "the port must be a number from 1 to 65535";

// True if a host of the URL has something behind its colon that is no number.
bool has_odd_port(std::string_view text)
{
    const std::size_t after_scheme = std::min(text.find("//"), text.size());
    const std::size_t end = std::min(text.find_first_of("/?#", after_scheme + 2), text.size());
    const std::size_t at = text.substr(0, end).rfind('@');
    const std::size_t begin = at == text.npos ? std::min(after_scheme + 2, end) : at + 1;
    const std::string_view host = text.substr(begin, end - begin);
    const std::size_t name_end = host.starts_with('[') ? std::min(host.find(']'), host.size()) : 0;
    const std::size_t colon = host.find(':', name_end);
    return colon != host.npos && host.find_first_not_of("0123456789", colon + 1) != host.npos;
}

// Parses the URL. It depends on the parser's version whether that takes "h:1:1" for a host and a
// path, so the port is looked at again in server_in().
urls::url_view parse_url(std::string_view text)
{
    const auto url = urls::parse_uri(text);
    if (!url) {
        throw invalid_url{
            has_odd_port(text) ? bad_port : std::string{"not a URL: "} + expected_form};
    }
    return *url;
}

// Returns the server of the URL, with `port` if the URL has none.
net::server_address server_in(const urls::url_view& url, std::string port)
{
    const std::string host = url.host_address();
    const bool is_ipv6 = url.host_type() == urls::host_type::ipv6;
    if (is_ipv6 ? !base::ip_address::parse(host) : !is_host_name(host)) {
        throw invalid_url{
            std::string{"the host must be a name or an IP address: "} + expected_form};
    }
    const std::string_view path = url.encoded_path();
    if (!path.empty() && path.front() != '/') {
        throw invalid_url{bad_port};
    }
    if (url.has_port()) {
        const auto number = parse_number(std::string{url.port()});
        if (!number || *number == 0 || *number > 65535) {
            throw invalid_url{bad_port};
        }
        port = std::to_string(*number);
    }
    return {host, std::move(port), {}};
}

void refuse_parameters(const urls::url_view& url)
{
    if (url.has_query()) {
        throw invalid_url{std::string{"parameters are not supported: "} + expected_form};
    }
}

void read_tcp(const urls::url_view& url, store::redis_options& options)
{
    const net::server_address server = server_in(url, options.port);
    options.host = server.host;
    options.port = server.port;
    refuse_parameters(url);
    const std::string path = url.path();
    if (path.size() > 1) {
        options.database = database_of(std::string_view{path}.substr(1));
    }
}

void read_unix(const urls::url_view& url, store::redis_options& options)
{
    if (!url.host().empty() || url.has_port()) {
        throw invalid_url{"a Unix socket has no host: three slashes, as in unix:///run/redis.sock"};
    }
    options.host.clear();
    options.port.clear();
    options.socket_path = url.path();
    if (std::any_of(options.socket_path.begin(), options.socket_path.end(), base::is_control)) {
        throw invalid_url{"control character in the path of the socket"};
    }
    if (const auto complaint = complaint_about_socket_path(options.socket_path)) {
        throw invalid_url{*complaint};
    }
    for (const auto& parameter : url.params()) {
        if (parameter.key != "db" || !parameter.has_value) {
            throw invalid_url{"the only parameter of a unix:// URL is db, as in ?db=0"};
        }
        options.database = database_of(parameter.value);
    }
}

// Reads "/MASTER", perhaps with the database behind it.
void read_master(const urls::url_view& url, store::redis_options& options)
{
    refuse_parameters(url);
    const std::string path = url.path();
    const std::size_t slash = path.find('/', 1);
    options.sentinel->master = path.substr(std::min<std::size_t>(path.size(), 1), slash - 1);
    if (!is_name(options.sentinel->master)) {
        throw invalid_url{
            "the name of the sentinels' master must be 1 to 64 letters, digits, dots, dashes or "
            "underscores, as in redis-sentinel://host1,host2/mymaster"};
    }
    if (slash != std::string::npos && slash + 1 < path.size()) {
        options.database = database_of(std::string_view{path}.substr(slash + 1));
    }
}

// Calls `read_one` with a URL of its own for each server. `servers` is what follows the scheme, and
// no URL may hold more than one server.
template <typename Read>
void read_each(std::string_view servers, Read read_one)
{
    std::size_t count = 0;
    const std::size_t end = std::min(servers.find_first_of("/?#"), servers.size());
    const std::size_t at = servers.substr(0, end).rfind('@');
    const std::size_t begin = at == std::string_view::npos ? 0 : at + 1;
    const std::string credentials{servers.substr(0, begin)};
    const std::string rest{servers.substr(end)};
    base::for_each_element(servers.substr(begin, end - begin), ',', [&](std::string_view host) {
        const std::string one = "redis://" + credentials + std::string{host} + rest;
        const urls::url_view url = parse_url(one);
        if (url.has_fragment()) {
            throw invalid_url{std::string{"not a URL: "} + expected_form};
        }
        if (++count > store::redis_options::max_servers) {
            throw invalid_url{"too many servers, the maximum is 16"};
        }
        read_one(url);
    });
}

store::redis_options read_sentinels(std::string_view servers)
{
    store::redis_options options;
    options.host.clear();
    options.port.clear();
    options.sentinel.emplace();
    read_each(servers, [&options](const urls::url_view& url) {
        options.sentinel->sentinels.push_back(server_in(url, "26379"));
        read_credentials(url, options);
        read_master(url, options);
    });
    return options;
}

store::redis_options read_cluster(std::string_view servers)
{
    store::redis_options options;
    options.host.clear();
    options.port.clear();
    read_each(servers, [&options](const urls::url_view& url) {
        options.cluster.push_back(server_in(url, "6379"));
        read_credentials(url, options);
        refuse_parameters(url);
        if (url.path().size() > 1) {
            throw invalid_url{"a cluster has no databases: nothing follows the hosts"};
        }
    });
    return options;
}

bool has_scheme(std::string_view text, std::string_view scheme)
{
    return base::equal_ignoring_case(text.substr(0, scheme.size()), scheme);
}

// Every scheme of Redis but unix:// begins with one of these, the second for TLS.
constexpr std::string_view plain_prefix = "redis";
constexpr std::string_view tls_prefix = "rediss";

// Reads a URL of several servers: sentinels, or nodes of a cluster. Nothing: it is no such URL.
std::optional<store::redis_options> read_several(std::string_view text)
{
    const bool is_tls = has_scheme(text, tls_prefix);
    const std::size_t prefix = is_tls ? tls_prefix.size() : plain_prefix.size();
    const std::size_t end = text.find("://");
    if (!has_scheme(text, plain_prefix) || end == std::string_view::npos || end < prefix) {
        return std::nullopt;
    }
    const std::string_view kind = text.substr(prefix, end - prefix);
    const std::string_view servers = text.substr(end + 3);
    std::optional<store::redis_options> options;
    if (base::equal_ignoring_case(kind, "-sentinel")) {
        options = read_sentinels(servers);
    } else if (base::equal_ignoring_case(kind, "-cluster")) {
        options = read_cluster(servers);
    }
    if (options && is_tls) {
        options->tls.emplace();
    }
    return options;
}

store::redis_options read(std::string_view text)
{
    if (auto several = read_several(text)) {
        return *std::move(several);
    }
    const urls::url_view url = parse_url(text);
    const std::string scheme = base::lower_case(std::string{url.scheme()});
    if (scheme == "memcached") {
        throw invalid_url{"stores of the kind " + scheme + ":// are not supported yet"};
    }
    const bool is_unix = scheme == "unix";
    const bool is_tls = scheme == tls_prefix;
    const bool is_known = scheme == plain_prefix || is_tls || is_unix;
    if (!is_known || !url.has_authority() || url.has_fragment()) {
        throw invalid_url{expected_form};
    }
    store::redis_options options;
    read_credentials(url, options);
    is_unix ? read_unix(url, options) : read_tcp(url, options);
    if (is_tls) {
        options.tls.emplace();
    }
    return options;
}

// True if the text before the last "@" cannot be a user and a password as it is written.
bool has_raw_credentials(std::string_view text)
{
    const std::size_t begin = text.find("://");
    const std::size_t end = text.rfind('@');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
        return false;
    }
    const std::string_view credentials = text.substr(begin + 3, end - begin - 3);
    return !urls::parse_uri("redis://" + std::string{credentials} + "@h").has_value() ||
           credentials.find_first_of("@/?#") != std::string_view::npos;
}

}  // namespace

parsed<store::shared_options> parse_store_url(std::string_view text)
{
    if (text.starts_with("postgresql://") || text.starts_with("postgres://")) {
        parsed<store::postgres_options> read = parse_postgres_url(std::string{text});
        if (read.value) {
            return {*std::move(read.value), {}};
        }
        return {{}, read.complaint + (has_raw_credentials(text) ? encoding_hint : "")};
    }
    try {
        return {store::shared_options{read(text)}, {}};
    } catch (const invalid_url& invalid) {
        return {{}, invalid.complaint + (has_raw_credentials(text) ? encoding_hint : "")};
    }
}

namespace {

std::string text_of(const store::postgres_options& options)
{
    return url_without_secret(options);
}

std::string text_of(const std::vector<net::server_address>& servers)
{
    std::string text;
    for (const net::server_address& one : servers) {
        text += (text.empty() ? "" : ",") + one.text();
    }
    return text;
}

std::string text_of(const store::redis_options& options)
{
    std::string credentials;
    const bool has_password = !options.password.empty() && options.password_file.empty();
    if (!options.user.empty() || has_password) {
        credentials = urls::encode(options.user, urls::unreserved_chars);
        credentials += has_password ? ":***@" : "@";
    }
    const std::string database = std::to_string(options.database);
    if (!options.socket_path.empty()) {
        const auto path_chars = urls::pchars + '/';
        return "unix://" + credentials + urls::encode(options.socket_path, path_chars) +
               "?db=" + database;
    }
    const std::string prefix{options.tls ? tls_prefix : plain_prefix};
    if (options.sentinel) {
        return prefix + "-sentinel://" + credentials + text_of(options.sentinel->sentinels) + '/' +
               options.sentinel->master + '/' + database;
    }
    if (!options.cluster.empty()) {
        return prefix + "-cluster://" + credentials + text_of(options.cluster);
    }
    const net::server_address server{options.host, options.port, {}};
    return prefix + "://" + credentials + server.text() + '/' + database;
}

}  // namespace

std::string url_without_secret(const store::shared_options& options)
{
    return std::visit([](const auto& kind) { return text_of(kind); }, options);
}

}  // namespace gateway::config
