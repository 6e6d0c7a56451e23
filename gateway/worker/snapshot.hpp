// `snapshot` holds everything of the configuration that a reload may change, as one immutable value
// for all workers.
#pragma once

#include "gateway/http/options.hpp"
#include "gateway/http2/options.hpp"
#include "gateway/net/tls/tls_server.hpp"
#include "gateway/policy/policy.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/servers/upstream_status.hpp"
#include "gateway/store/shared_options.hpp"
#include "gateway/tracing/options.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::worker {

struct snapshot {
    std::shared_ptr<const policy::policy> policy;
    http::options http;
    http2::options http2;
    std::size_t max_connections_per_peer = 0;
    std::size_t max_waiting = 0;
    tracing::sampling sampling;
    // [i] is policy->stores[i].
    std::vector<store::named_store> shared_stores;
    // [i] is policy->upstreams[i].
    std::vector<proxy::upstream_options> upstreams;
    // [i] has the TLS options of listener i; nothing if its connections are plain.
    std::vector<std::optional<net::tls_server_options>> listener_tls;
    // Secret from which all workers make the keys of session tickets.
    net::ticket_secret tickets;
    // Name of this process in `Via`.
    std::string via_name;
    // [i] is the status of upstreams[i].
    std::vector<std::shared_ptr<proxy::upstream_status>> upstream_statuses;
    // Port of the built-in echo server; 0 if there is none.
    unsigned short echo_port = 0;
};

}  // namespace gateway::worker
