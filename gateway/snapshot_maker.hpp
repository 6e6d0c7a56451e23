// `snapshot_maker` converts settings to the snapshots that workers get, and keeps what outlives
// their reloads: the status of upstreams, the built-in server, the gateway's name in Via, and
// ticket keys.
// Thread: the main thread.
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

    // Returns figures of all servers.
    // Requires: `settings` are those of the last make().
    std::vector<telemetry::server_figures> figures(const config::settings& settings) const;

private:
    const std::string via_name_;
    // The first secret of the ticket keys. All workers that begin with it come to the same keys.
    const net::ticket_secret tickets_ = net::ticket_secret::make(base::now());
    std::unique_ptr<probes::echo_server> echo_;
    // Status of each upstream, by its name.
    std::map<std::string, std::shared_ptr<proxy::upstream_status>> upstreams_;
};

}  // namespace gateway
