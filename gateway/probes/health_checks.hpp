// `health_checks` asks the servers of upstreams whether they are well. A check is a GET on a
// connection of its own, and the status of its response; proxy::health_state decides what the
// results mean. Each server has one check at a time.
// Ownership: the app's, one per process.
// Thread: the main thread.
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
    // Most bytes of a body that are read.
    static constexpr std::size_t max_body_bytes = 64 * 1024;

    static constexpr int max_interim_responses = 10;

    struct target {
        std::string upstream;
        // The server as configured, for the log and as a label.
        std::string name;

        proxy::server_address address;
        proxy::health_options options;
        net::resolver_options resolver;
        proxy::upstream_protocol protocol = proxy::upstream_protocol::http1;
        proxy::header_version proxy_protocol = proxy::header_version::none;
        std::optional<net::tls_client_options> tls{};
        // Port of the built-in echo server.
        unsigned short echo_port = 0;
        // Called when watch() begins to check the server with these options, and when its health
        // changes.
        std::function<void(bool healthy)> report;
    };

    health_checks(boost::asio::io_context& context, std::string user_agent);
    ~health_checks();

    // Checks these servers from now on, and no others. A server that was checked before under the
    // same names keeps its health and counts.
    void watch(std::vector<target> servers);

    std::vector<telemetry::server_health> results() const;

private:
    struct checked_server;

    boost::asio::io_context& context_;
    std::string user_agent_;
    std::vector<std::shared_ptr<checked_server>> servers_;
};

}  // namespace gateway::probes
