// Makes of the settings what workers are handed, and keeps what outlives each of their reloads: the
// status of upstreams, the built-in server, our name, the keys of tickets. The main thread's.
#pragma once

#include "config/settings.hpp"
#include "gateway/probes/echo.hpp"
#include "gateway/telemetry/registry.hpp"
#include "gateway/worker/snapshot.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gateway {

class snapshot_maker {
public:
    snapshot_maker();

    worker::snapshot make(const config::settings& settings);

    // Of all servers in the settings that were made last.
    std::vector<telemetry::server_figures> figures(const config::settings& settings) const;

private:
    const std::string via_name_;
    // The first one: whoever begins with it comes to the keys of all others.
    const net::ticket_secret tickets_ = net::ticket_secret::make(base::now());
    std::unique_ptr<probes::echo_server> echo_;
    // By the upstream's name.
    std::map<std::string, std::shared_ptr<proxy::upstream_status>> upstreams_;
};

}  // namespace gateway
