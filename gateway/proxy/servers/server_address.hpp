// Interprets a server's address in the configuration: its name in requests, and its endpoints.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/proxy/options.hpp"

#include <functional>
#include <string>

namespace gateway::proxy {

// Returns the value of Host for requests that bring none.
std::string host_of(const server_address& address);

// Resolves the address; `echo_port` is the built-in server's. `answered`: see resolved_name.
net::resolved_name resolved(
    const net::executor& ex,
    const server_address& address,
    unsigned short echo_port,
    const net::resolver_options& options,
    std::function<void()> answered
);

}  // namespace gateway::proxy
