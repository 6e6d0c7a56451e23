// Logs the TLS handshakes of clients that fail: all workers together at most some lines a second.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/ip_address.hpp"

#include <string_view>

namespace gateway::client {

// `name`: what the client asked for; empty: it is not known. Thread: any.
void log_failed_handshake(
    const base::ip_address& peer, std::string_view name, std::string_view reason, base::instant now
);

}  // namespace gateway::client
