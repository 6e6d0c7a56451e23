// A host name kept resolved: asked at the start, and again as resolver_options say or somebody
// wants. A failing resolver keeps the last good answer, also that of another resolved_name of the
// same host (last_addresses), as a reload makes new ones. Addresses and Unix sockets need no
// asking. One thread: the loop's.
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

// Where something listens.
struct server_address {
    // A name or a numeric address.
    std::string host;
    // The port in decimal.
    std::string port;
    // The path of a Unix socket, instead of host and port.
    std::string socket_path;

    bool operator==(const server_address&) const = default;

    // For logs.
    std::string text() const
    {
        return socket_path.empty() ? base::host_and_port(host, port) : socket_path;
    }
};

class resolved_name {
public:
    using endpoint = boost::asio::generic::stream_protocol::endpoint;

    static resolved_name of_socket(const std::string& path);

    // `answered` is called after each answer, good or not, from the loop; not for numeric hosts.
    static resolved_name of_host(
        const executor& ex,
        const std::string& host,
        const std::string& port,
        const resolver_options& options,
        std::function<void()> answered
    );

    // Whichever of the two the address is.
    static resolved_name of(
        const executor& ex,
        const server_address& address,
        const resolver_options& options,
        std::function<void()> answered
    );

    resolved_name(resolved_name&&) = default;
    resolved_name& operator=(resolved_name&&) = default;
    ~resolved_name();

    // Asks again now. False: there is nothing to ask, as it is an address or a Unix socket.
    bool ask();

    // Asks no more; what is known stays.
    void stop();

    std::span<const endpoint> endpoints() const;

    // False until the first answer, or until the host's address is known from before.
    bool known() const;

    // What the resolver said last, if that was an error.
    const std::string& error() const;

private:
    struct state;
    explicit resolved_name(std::shared_ptr<state> s);
    std::shared_ptr<state> state_;
};

}  // namespace gateway::net
