// Everything of the configuration that a reload may change, as one immutable value for all workers.
#pragma once

#include "gateway/http/options.hpp"
#include "gateway/net/tls/tls_server.hpp"
#include "gateway/policy/policy.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/servers/upstream_status.hpp"
#include "gateway/store/shared_options.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::worker {

struct snapshot {
    std::shared_ptr<const policy::policy> policy;
    http::options http;
    std::size_t max_connections_per_peer = 0;
    std::size_t max_waiting = 0;
    // [i] is policy->stores[i].
    std::vector<store::named_store> shared_stores;
    // [i] is policy->upstreams[i].
    std::vector<proxy::upstream_options> upstreams;
    // [i] is of the listener i; nothing: its connections are plain.
    std::vector<std::optional<net::tls_server_options>> listener_tls;
    // Of which all workers make the keys of tickets.
    net::ticket_secret tickets;
    // The name of this process in `Via`.
    std::string via_name;
    // [i] is the status of upstreams[i].
    std::vector<std::shared_ptr<proxy::upstream_status>> upstream_statuses;
    // The port of the built-in server, where an upstream names it.
    unsigned short echo_port = 0;
};

}  // namespace gateway::worker
