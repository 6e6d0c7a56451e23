// What a server's address in the configuration stands for: its name in requests, and where it is.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/proxy/options.hpp"

#include <functional>
#include <string>

namespace gateway::proxy {

// For the Host field of requests that bring none.
std::string host_of(const server_address& address);

// `echo_port`: where the built-in server listens. `answered`: see resolved_name.
net::resolved_name resolved(
    const net::executor& ex,
    const server_address& address,
    unsigned short echo_port,
    const net::resolver_options& options,
    std::function<void()> answered
);

}  // namespace gateway::proxy
