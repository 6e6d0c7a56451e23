// Parses addresses to listen on and to connect to. Pure.
#pragma once

#include "gateway/net/listen_address.hpp"
#include "gateway/proxy/options.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::config {

// Longest path of a Unix socket: sockaddr_un has room for 108 bytes, the last of which is zero.
inline constexpr std::size_t max_socket_path = 107;

// `parsed` is a value, or the error in the text (then `complaint` is not empty).
template <class Value>
struct parsed {
    std::optional<Value> value;
    std::string complaint;
};

// `invalid_url` is thrown while a URL is parsed, and becomes the complaint of its `parsed`.
struct invalid_url {
    std::string complaint;
};

// Returns what is wrong with a path, unless it is absolute and at most max_socket_path bytes.
std::optional<std::string> complaint_about_socket_path(std::string_view path);

// Parses "127.0.0.1:8080", "[::1]:8080", "unix:/path". The IP address becomes canonical.
parsed<net::listen_address> parse_listen_address(std::string_view text);

// Parses "host:port" with a name or address, "[::1]:9000", "unix:/path", or "echo".
parsed<proxy::server_address> parse_server_address(std::string_view text);

// Returns a text that parses to the same address.
std::string to_text(const net::listen_address& address);

}  // namespace gateway::config
