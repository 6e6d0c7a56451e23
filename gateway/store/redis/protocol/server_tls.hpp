// `server_tls` makes TLS connections to servers that take turns, such as the nodes of a cluster or
// the master that sentinels name.
// Thread: one.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/net/tls/tls_client.hpp"

#include <memory>
#include <optional>

namespace gateway::store::redis {

class server_tls {
public:
    // No options mean that the servers are spoken to without TLS.
    explicit server_tls(std::optional<net::tls_client_options> options);

    // Returns the engine of a new connection to that server, or null without TLS. The server must
    // prove that it is reached by its name or has the name in the options. The last session is
    // resumed if the server is that of the last connection.
    std::unique_ptr<net::tls_engine> connect(const net::server_address& to);

    // Forgets the session, as the last handshake was not completed.
    void forget_session();

private:
    std::optional<net::tls_client_options> options_;
    net::server_address server_;
    // Client of `server_`, or null before the first connection.
    std::shared_ptr<net::tls_client> client_;
};

}  // namespace gateway::store::redis
