#include "config/urls/address.hpp"

#include "config/text/problem.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/units.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/base/text.hpp"

namespace gateway::config {
namespace {

constexpr std::string_view unix_scheme = "unix:";

struct host_and_port {
    std::string host;
    unsigned short port = 0;
    bool bracketed = false;
};

// Returns what to write instead of a URL, or nothing if the text is none.
std::optional<std::string> complaint_about_url(std::string_view text)
{
    const std::size_t scheme = text.find("://");
    if (scheme == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view rest = text.substr(scheme + 3);
    const std::string_view address = rest.substr(0, rest.find_first_of("/?#"));
    // The text before an @ may be a password, and is not repeated.
    const bool is_bare = !address.empty() && address.find('@') == std::string_view::npos;
    return "a URL, and an address is expected: write " +
           (is_bare ? quote(address) : std::string{"host:port"}) + ", without the scheme";
}

parsed<host_and_port> split(std::string_view text)
{
    const std::size_t colon = text.rfind(':');
    // The last colon of an IPv6 address in brackets, and nothing else, is a part of it.
    const bool is_host_alone = text.starts_with('[') && text.ends_with(']');
    if (colon == std::string_view::npos || is_host_alone) {
        return {{}, "the port is missing: expected host:port, got " + quote(text)};
    }
    std::string_view host = text.substr(0, colon);
    const auto port = parse_number(text.substr(colon + 1));
    if (!port || *port > 65535) {
        return {{}, "the port must be a number up to 65535, in " + quote(text)};
    }
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) {
        host = host.substr(1, host.size() - 2);
    }
    const bool has_colon = host.find(':') != std::string_view::npos;
    if (has_colon != bracketed) {
        return {{}, "an IPv6 address, and nothing else, needs brackets, as in \"[::1]:8080\""};
    }
    return {host_and_port{std::string{host}, static_cast<unsigned short>(*port), bracketed}, {}};
}

}  // namespace

std::optional<std::string> complaint_about_socket_path(std::string_view path)
{
    if (path.empty() || path.front() != '/') {
        return "the path of a Unix socket must be absolute, as in unix:/run/gateway.sock";
    }
    if (path.size() > max_socket_path) {
        return "the path of a Unix socket is too long, the maximum is " +
               std::to_string(max_socket_path) + " bytes";
    }
    return std::nullopt;
}

parsed<net::listen_address> parse_listen_address(std::string_view text)
{
    net::listen_address address;
    if (text.starts_with(unix_scheme)) {
        address.socket_path = text.substr(unix_scheme.size());
        if (const auto complaint = complaint_about_socket_path(address.socket_path)) {
            return {{}, *complaint};
        }
        return {address, {}};
    }
    if (const auto complaint = complaint_about_url(text)) {
        const bool tls = text.starts_with("https://");
        return {{}, *complaint + (tls ? ", and \"tls\" beside it" : "")};
    }
    const auto both = split(text);
    if (!both.value) {
        return {{}, both.complaint};
    }
    const auto ip = base::ip_address::parse(both.value->host);
    if (!ip) {
        return {
            {},
            "the host must be an IP address, such as 127.0.0.1, 0.0.0.0 or [::], in " +
                quote(text)};
    }
    address.host = ip->to_string();
    address.port = both.value->port;
    return {address, {}};
}

parsed<proxy::server_address> parse_server_address(std::string_view text)
{
    proxy::server_address address;
    if (text == "echo") {
        address.echo = true;
        return {address, {}};
    }
    if (text.starts_with(unix_scheme)) {
        address.socket_path = text.substr(unix_scheme.size());
        if (const auto complaint = complaint_about_socket_path(address.socket_path)) {
            return {{}, *complaint};
        }
        return {address, {}};
    }
    if (text.starts_with("https://")) {
        return {{}, "expected host:port, and \"tls: {}\" beside \"servers\""};
    }
    if (const auto complaint = complaint_about_url(text)) {
        return {{}, *complaint};
    }
    const auto both = split(text);
    if (!both.value) {
        return {{}, both.complaint};
    }
    const auto ip = base::ip_address::parse(both.value->host);
    if (!ip && !both.value->bracketed && ends_in_number(both.value->host)) {
        return {{}, "the host ends in a number, but is no IPv4 address, in " + quote(text)};
    }
    if (!ip && (both.value->bracketed || !is_host_name(both.value->host))) {
        return {{}, "the host must be a name or an IP address, in " + quote(text)};
    }
    if (both.value->port == 0) {
        return {{}, "the port must not be 0"};
    }
    address.host = ip ? ip->to_string() : both.value->host;
    address.port = std::to_string(both.value->port);
    return {address, {}};
}

std::string to_text(const net::listen_address& address)
{
    return address.socket_path.empty()
               ? base::host_and_port(address.host, std::to_string(address.port))
               : std::string{unix_scheme} + address.socket_path;
}

}  // namespace gateway::config
