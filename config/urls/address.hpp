// Where to listen and where to connect, from text. Pure.
#pragma once

#include "gateway/net/listen_address.hpp"
#include "gateway/proxy/options.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::config {

// sockaddr_un has room for 108 bytes, the last of which is zero.
inline constexpr std::size_t max_socket_path = 107;

// A value, or what is wrong with the text (then `complaint` is not empty).
template <class Value>
struct parsed {
    std::optional<Value> value;
    std::string complaint;
};

// An absolute path of at most max_socket_path bytes; otherwise what is wrong.
std::optional<std::string> complaint_about_socket_path(std::string_view path);

// "127.0.0.1:8080", "[::1]:8080", "unix:/path". The host is an IP address, kept in canonical form.
parsed<net::listen_address> parse_listen_address(std::string_view text);

// "host:port" with a name or address, "[::1]:9000", "unix:/path", or "echo".
parsed<proxy::server_address> parse_server_address(std::string_view text);

// The text it was parsed from.
std::string to_text(const net::listen_address& address);

}  // namespace gateway::config
