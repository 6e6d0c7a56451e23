// Functions that log what clients or servers can cause at any rate. All workers together log at
// most so many lines of each kind.
// Thread: any.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/policy/route.hpp"

#include <string_view>

namespace gateway::client {

// Logs that the TLS handshake of a client has failed: ten lines a second. `name` is the name that
// the client asked for; empty: it is not known.
void log_failed_handshake(
    const base::ip_address& peer, std::string_view name, std::string_view reason, base::instant now
);

// Logs that a client's connection was closed because it cost too much: one line in ten seconds.
void log_closed_connection(
    const base::ip_address& peer, std::string_view reason, base::instant now
);

// Logs that a response is compressed, so that the gateway cannot read what its request has cost:
// one line an hour.
void log_coded_response(const policy::route& route, base::instant now);

}  // namespace gateway::client
