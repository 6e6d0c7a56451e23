// `redis_options` says where a Redis server is, and as whom the gateway logs in.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/net/tls/tls_client.hpp"
#include "gateway/store/options.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gateway::store {

// `sentinel_options` names the sentinels that know where the server is: the master of that name,
// which may change.
struct sentinel_options {
    // Hosts and ports of the sentinels.
    std::vector<net::server_address> sentinels;
    std::string master;
    // Password for the sentinels. If empty, no AUTH is sent to them.
    std::string password;
    // File that this password comes from.
    std::string password_file;

    bool operator==(const sentinel_options&) const = default;
};

struct redis_options : conversation_options {
    // Most configured servers of a cluster or sentinels. The nodes that a cluster reports come on
    // top.
    static constexpr std::size_t max_servers = 16;

    // Name or address of the server. Unused with a socket path, or with sentinels.
    std::string host = "127.0.0.1";

    std::string port = "6379";
    // Path of a Unix socket, or empty for TCP.
    std::string socket_path;
    // User to log in as, or empty for the default user.
    std::string user;
    // Password. If empty, no AUTH is sent.
    std::string password;

    // File that the password comes from, if not from the URL.
    std::string password_file;

    int database = 0;
    // Sentinels, or nothing if the server is the one above.
    std::optional<sentinel_options> sentinel;
    // Nodes of a cluster, by host and port, or empty if the server is alone.
    std::vector<net::server_address> cluster{};
    // TLS options, or nothing if the connection is not encrypted.
    std::optional<net::tls_client_options> tls;

    bool operator==(const redis_options&) const = default;
};

// Returns the options of one node of a cluster, as if it were alone.
inline redis_options at_node(redis_options cluster, const net::server_address& node)
{
    cluster.cluster.clear();
    cluster.host = node.host;
    cluster.port = node.port;
    return cluster;
}

}  // namespace gateway::store
