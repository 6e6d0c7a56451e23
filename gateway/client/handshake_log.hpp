// `log_failed_handshake` logs that the TLS handshake of a client has failed. All workers together
// log at most ten lines a second.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/ip_address.hpp"

#include <string_view>

namespace gateway::client {

// `name` is the name that the client asked for; empty: it is not known.
// Thread: any.
void log_failed_handshake(
    const base::ip_address& peer, std::string_view name, std::string_view reason, base::instant now
);

}  // namespace gateway::client
