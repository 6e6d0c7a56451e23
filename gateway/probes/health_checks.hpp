// Asks the servers of upstreams whether they are well, each on connections of its own: a GET, and
// the status of its response. Once per process, on the main thread's loop, one check at a time per
// server. Owned by the app; proxy::health_state decides what the answers mean.
#pragma once

#include "gateway/net/loop.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/telemetry/figures.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::probes {

class health_checks {
public:
    static constexpr std::size_t max_header_bytes = 16 * 1024;
    // Of a longer body no more than this is read.
    static constexpr std::size_t max_body_bytes = 64 * 1024;

    static constexpr int max_interim_responses = 10;

    struct target {
        std::string upstream;
        // The server as configured, for the log and as a label.
        std::string name;

        proxy::server_address address;
        proxy::health_options options;
        net::resolver_options resolver;
        proxy::header_version proxy_protocol = proxy::header_version::none;
        std::optional<net::tls_client_options> tls{};
        // The port where the built-in server listens.
        unsigned short echo_port = 0;
        // Called when the server's health changes.
        std::function<void(bool healthy)> report;
    };

    health_checks(boost::asio::io_context& context, std::string user_agent);
    ~health_checks();

    // From now on these servers, and no others. One that was checked before under the same names
    // goes on with its state and counts.
    void watch(std::vector<target> servers);

    std::vector<telemetry::server_health> results() const;

private:
    struct checked_server;

    boost::asio::io_context& context_;
    std::string user_agent_;
    std::vector<std::shared_ptr<checked_server>> servers_;
};

}  // namespace gateway::probes
