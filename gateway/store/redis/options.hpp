// Where a Redis server is, and who we are there.
#pragma once

#include "gateway/store/options.hpp"

#include <string>

namespace gateway::store {

struct redis_options : conversation_options {
    std::string host = "127.0.0.1";  // name or address; unused with a socket path
    std::string port = "6379";
    std::string socket_path;  // of a Unix socket; empty = TCP
    std::string user;         // empty: the default user
    std::string password;     // empty: no AUTH
    int database = 0;

    bool operator==(const redis_options&) const = default;
};

}  // namespace gateway::store
