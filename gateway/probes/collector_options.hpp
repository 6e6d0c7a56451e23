// `collector_options` says where the spans of traced requests go, and how they get there. Plain
// values.
#pragma once

#include "gateway/net/tls/tls_client.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gateway::probes {

struct collector_options {
    // URL of the collector as it is configured; empty: there is none.
    std::string endpoint;
    // Parts of that URL. The path is that of the request.
    std::string host;
    std::string port;
    std::string path;
    // Set if the URL asks for TLS; prepared.
    std::optional<net::tls_client_options> tls;
    // Names and values of fields of each request to the collector.
    std::vector<std::pair<std::string, std::string>> headers;
    std::string service_name = "gateway";

    bool operator==(const collector_options&) const = default;
};

}  // namespace gateway::probes
