// The admin API: /metrics, /healthz, /readyz, on an address of its own and the main thread's loop.
#pragma once

#include "gateway/net/listener.hpp"
#include "gateway/net/loop.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gateway::server {

class admin_server {
public:
    static constexpr std::size_t max_connections = 256;

    struct sources {
        std::function<std::string()> metrics;                         // Prometheus text
        std::function<std::vector<std::string>()> not_ready_because;  // empty: ready
    };

    // Takes over a listening socket.
    admin_server(boost::asio::io_context& context, int socket, sources from);
    ~admin_server();

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace gateway::server
