// `postgres_options` says where PostgreSQL servers are, and as whom the gateway logs in.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/store/options.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace gateway::store {

struct postgres_options : conversation_options {
    // Servers, tried in turn until one takes writes. A socket path is that of the folder.
    std::vector<net::server_address> servers{
        {.host = "127.0.0.1", .port = "5432", .socket_path = {}}};
    // Other parameters of libpq, such as "dbname", "user" or "sslmode", and their values.
    std::vector<std::pair<std::string, std::string>> parameters;
    // Password. If empty, none is sent, unless libpq knows one (~/.pgpass).
    std::string password;
    // File that the password comes from, if not from the URL.
    std::string password_file;
    // Connections per worker. The name of a question's first bucket chooses one.
    std::size_t connections = 1;
    // True if buckets outlive a crash of the server, which costs the disk a write per call.
    bool durable = false;
    // True to install what is missing in the database.
    bool migrate = true;

    static constexpr std::size_t most_servers = 16;
    static constexpr std::size_t most_connections = 16;

    bool operator==(const postgres_options&) const = default;
};

}  // namespace gateway::store
