// Where a Redis server is, and who we are there.
#pragma once

#include "gateway/net/tls_stream.hpp"
#include "gateway/store/options.hpp"

#include <optional>
#include <string>

namespace gateway::store {

struct redis_options : conversation_options {
    // The server's name or address; unused with a socket path.
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
    // Nothing: what we say is not encrypted.
    std::optional<net::tls_options> tls;

    bool operator==(const redis_options&) const = default;
};

}  // namespace gateway::store
