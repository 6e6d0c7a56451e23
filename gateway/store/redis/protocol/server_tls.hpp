// TLS to servers that take turns on one connection, such as the nodes of a cluster or the master
// that sentinels name. One thread.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/net/tls/tls_client.hpp"

#include <memory>
#include <optional>

namespace gateway::store::redis {

class server_tls {
public:
    // Nothing: the servers are spoken to without TLS.
    explicit server_tls(std::optional<net::tls_client_options> options);

    // Returns the engine of a new connection to that server, which must prove that it is reached by
    // its name or has that of the options; null without TLS. The last session goes on if the server
    // is that of the last connection.
    std::unique_ptr<net::tls_engine> connect(const net::server_address& to);

    // The last handshake did not come to its end.
    void forget_session();

private:
    std::optional<net::tls_client_options> options_;
    net::server_address server_;
    // Speaks to `server_`; null before the first connection.
    std::shared_ptr<net::tls_client> client_;
};

}  // namespace gateway::store::redis
