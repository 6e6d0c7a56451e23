// The functions here describe the mappings of a configuration: every key with its type, range,
// default and meaning. A description reads and writes the draft that it is given.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"

namespace gateway::config {

// Words of `on_long_body`, which `http` and routes have. True: the request is refused.
inline constexpr words<bool, 2> long_bodies{{{"missing", false}, {"413", true}}};

// Describes the whole file. A section that refers to others by name comes after them.
void describe(keys& root, draft& d);

// These describe the keys of the file itself, in this order.
void describe_process(keys& root, draft& d);
void describe_http(keys& root, draft& d);
void describe_http2(keys& root, draft& d);
void describe_client(keys& root, draft& d);
void describe_jwt(keys& root, draft& d);
void describe_stores(keys& root, draft& d);
void describe_plans(keys& root, draft& d);
void describe_limits(keys& root, draft& d);
void describe_upstreams(keys& root, draft& d);
void describe_routes(keys& root, draft& d);
void describe_rate_limit_services(keys& root, draft& d);
void describe_response_headers(keys& root, draft& d);
void describe_log(keys& root, draft& d);
void describe_tracing(keys& root, draft& d);

// Describes `fields` of the log.
void describe_log_fields(keys& log, draft& d);

// Takes the URL of a set of keys. Returns what is wrong with it, or an empty text.
std::string take_issuer_url(const std::string& text, probes::issuer_options& options);

// Describes the keys of `jwt` that are for keys from a URL.
// Requires: `keys` has been described.
void describe_issuer(keys& jwt, probes::issuer_options& options, const draft& d);

// Describes `servers` of an upstream.
void describe_servers(keys& upstream, std::vector<proxy::server_options>& servers);

// These describe `health` of an upstream and `tls` of a listener. `out` is nothing without it.
void describe_health(keys& upstream, std::optional<proxy::health_options>& out);
void describe_listener_tls(
    keys& listener, std::optional<net::tls_server_options>& out, const draft& d
);

// Describes the keys of TLS to a server of a store or of an upstream, or to a collector: how the
// server is verified, and which certificate the gateway has. `server_name` is the meaning of that
// key.
void describe_tls_client(
    keys& tls, net::tls_client_options& options, std::string_view server_name, const draft& d
);

// Describes those of a server that must be verified, and asks for no certificate.
void describe_verified_server(
    keys& tls, net::tls_client_options& options, std::string_view server_name, const draft& d
);

// Describes the keys of a shared store that say where its server is, as whom the gateway logs in,
// and how the server is verified. The URL comes first, as it says for which kind of store the other
// keys are.
void describe_server_url(keys& shared, store::shared_options& options, const draft& d);

}  // namespace gateway::config
