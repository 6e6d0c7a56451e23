// `ask_health()` runs `gateway health`, the health check of containers, which have no HTTP client.
#pragma once

#include "gateway/net/listen_address.hpp"

#include <ostream>

namespace gateway {

// Asks the admin API for /healthz, or with `ready` for /readyz. Returns the exit status:
// failed_while_running, with the reason on `err`, unless the answer is 200 within two seconds.
int ask_health(const net::listen_address& admin, bool ready, std::ostream& err);

}  // namespace gateway
