// The admin API: /metrics, /healthz, /readyz, on an address of its own and the main thread's loop.
#pragma once

#include "gateway/net/socket.hpp"
#include "gateway/server/options.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gateway::server {

// What /readyz tells. The reasons are about this process alone and decide; what else is down is
// only told, as every gateway shares it.
struct readiness {
    // Why this process is not ready; none: it is.
    std::vector<std::string> reasons;
    std::vector<std::string> stores_down;
    std::vector<telemetry::server_name> servers_down;
};

// At its bound of connections it closes the one that has kept it waiting longest: for the rest of
// a request, or for room for an answer. So nobody shuts others out by being slow.
class admin_server {
public:
    struct sources {
        // Prometheus text.
        std::function<std::string()> metrics;
        std::function<readiness()> ready;
    };

    // `listening` on options.address.
    admin_server(
        boost::asio::io_context& context,
        net::socket listening,
        const admin_options& options,
        sources from
    );
    ~admin_server();

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace gateway::server
