// The admin API: /metrics, /healthz, /readyz, on an address of its own and the main thread's loop.
#pragma once

#include "gateway/server/options.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gateway::server {

class admin_server {
public:
    struct sources {
        std::function<std::string()> metrics;                         // Prometheus text
        std::function<std::vector<std::string>()> not_ready_because;  // empty: ready
    };

    // Takes over a socket that listens on options.address.
    admin_server(
        boost::asio::io_context& context, int socket, const admin_options& options, sources from
    );
    ~admin_server();

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace gateway::server
