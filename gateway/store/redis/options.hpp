// Where a Redis server is, and who we are there.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/net/tls_stream.hpp"
#include "gateway/store/options.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gateway::store {

// Who knows where the server is: it is the master by a name, and may change.
struct sentinel_options {
    static constexpr std::size_t max_sentinels = 16;

    // Hosts and ports.
    std::vector<net::server_address> sentinels;
    std::string master;
    // What the sentinels want to hear; empty: no AUTH is sent to them.
    std::string password;
    // Where that comes from.
    std::string password_file;

    bool operator==(const sentinel_options&) const = default;
};

struct redis_options : conversation_options {
    // The server's name or address; unused with a socket path, or with sentinels.
    std::string host = "127.0.0.1";

    std::string port = "6379";
    // The path of a Unix socket; empty: TCP.
    std::string socket_path;
    // The user to log in as; empty: the default user.
    std::string user;
    // The password; empty: no AUTH is sent.
    std::string password;

    // Where the password comes from, if not from the URL.
    std::string password_file;

    int database = 0;
    // Nothing: the server is the one above.
    std::optional<sentinel_options> sentinel;
    // Nothing: what we say is not encrypted.
    std::optional<net::tls_options> tls;

    bool operator==(const redis_options&) const = default;
};

}  // namespace gateway::store
