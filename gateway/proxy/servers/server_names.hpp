// `server_names` keeps the names of an upstream's servers resolved, and has addresses take turns.
// Ownership: the pool.
// Thread: the pool's.
#pragma once

#include "gateway/net/loop.hpp"
#include "gateway/net/resolved_name.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/upstream_connection.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace gateway::proxy {

class server_names {
public:
    // `echo_port`: the port of the built-in echo server, for servers that name it. `changed` is
    // called after each answer of the resolver.
    server_names(
        net::loop& l,
        const upstream_options& options,
        unsigned short echo_port,
        std::function<void()> changed
    );

    // Bit i is set if server i has an address.
    std::uint64_t addressed() const { return addressed_; }

    // True if the resolver has answered for each name, good or not.
    bool all_known() const { return all_known_; }

    std::span<const net::resolved_name::endpoint> addresses_of(std::size_t server) const
    {
        return servers_[server].name.endpoints();
    }

    // True while the address is one of the server's. A connection to another one leads to where the
    // server was before its name moved.
    bool are_at(const server_endpoint& e) const
    {
        const auto addresses = addresses_of(e.server);
        return std::find(addresses.begin(), addresses.end(), e.address) != addresses.end();
    }

    // Returns the resolver's error for a server without an address, or empty before its answer.
    const std::string& error_of(std::size_t server) const { return servers_[server].name.error(); }

    // Returns the index of the address to try first, modulo their number. It grows by one each
    // time.
    std::size_t next_turn(std::size_t server) { return servers_[server].turn++; }

    // Returns the address as the configuration spells it.
    const std::string& text_of(std::size_t server) const { return servers_[server].text; }

    // Returns the Host for requests that name none: host_of() the first server.
    const std::string& default_host() const { return default_host_; }

    // Stops resolving.
    void stop();

private:
    struct known_server {
        std::string text;
        net::resolved_name name;
        std::size_t turn = 0;
    };

    std::string default_host_;
    std::vector<known_server> servers_;
    std::uint64_t addressed_ = 0;
    bool all_known_ = false;

    void look();
};

}  // namespace gateway::proxy
