// `resolved_name` keeps a host name resolved. It queries at the start, and again as
// resolver_options say or on demand. A failing resolver leaves the last good answer in place, even
// one of another resolved_name of the same host (last_addresses), as a reload makes new ones.
// Addresses and Unix sockets need no query.
// Thread: the one of the loop.
#pragma once

#include "gateway/base/text.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/options.hpp"

#include <boost/asio/generic/stream_protocol.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace gateway::net {

// `server_address` is the address that a server listens on.
struct server_address {
    // A name or a numeric address.
    std::string host;
    // TCP port in decimal digits.
    std::string port;
    // Path of a Unix socket, instead of host and port.
    std::string socket_path;

    bool operator==(const server_address&) const = default;

    // Returns the address as text for logs.
    std::string text() const
    {
        return socket_path.empty() ? base::host_and_port(host, port) : socket_path;
    }
};

class resolved_name {
public:
    using endpoint = boost::asio::generic::stream_protocol::endpoint;

    static resolved_name of_socket(const std::string& path);

    // Calls `answered` from the loop after each answer, good or not; never for numeric hosts.
    static resolved_name of_host(
        const executor& ex,
        const std::string& host,
        const std::string& port,
        const resolver_options& options,
        std::function<void()> answered
    );

    // Makes one of a host or of a socket, whichever the address is.
    static resolved_name of(
        const executor& ex,
        const server_address& address,
        const resolver_options& options,
        std::function<void()> answered
    );

    resolved_name(resolved_name&&) = default;
    resolved_name& operator=(resolved_name&&) = default;
    ~resolved_name();

    // Queries again now. False if there is nothing to query, as it is an address or a Unix socket.
    bool ask();

    // Stops querying; the known addresses stay.
    void stop();

    std::span<const endpoint> endpoints() const;

    // True if an answer has come, good or not, or if the host's addresses were known before.
    bool known() const;

    // Returns the resolver's last error; empty if its last answer was not an error.
    const std::string& error() const;

private:
    struct state;
    explicit resolved_name(std::shared_ptr<state> s);
    std::shared_ptr<state> state_;
};

}  // namespace gateway::net
