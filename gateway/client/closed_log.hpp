// `log_closed_connection` logs that a client's connection was closed because it cost too much. All
// workers together log one line in ten seconds.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/ip_address.hpp"

#include <string_view>

namespace gateway::client {

// Thread: any.
void log_closed_connection(
    const base::ip_address& peer, std::string_view reason, base::instant now
);

}  // namespace gateway::client
