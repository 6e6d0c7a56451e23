// Where a Redis server is, and who we are there.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/net/tls/tls_client.hpp"
#include "gateway/store/options.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gateway::store {

// Who knows where the server is: it is the master by a name, and may change.
struct sentinel_options {
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
    // Of a cluster or sentinels; what the nodes of a cluster tell of others comes on top.
    static constexpr std::size_t max_servers = 16;

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
    // Nodes of a cluster, hosts and ports; empty: the server is alone.
    std::vector<net::server_address> cluster{};
    // Nothing: what we say is not encrypted.
    std::optional<net::tls_client_options> tls;

    bool operator==(const redis_options&) const = default;
};

// Of one node of a cluster, as if it were alone.
inline redis_options at_node(redis_options cluster, const net::server_address& node)
{
    cluster.cluster.clear();
    cluster.host = node.host;
    cluster.port = node.port;
    return cluster;
}

}  // namespace gateway::store
