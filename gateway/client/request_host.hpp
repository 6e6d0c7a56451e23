// Whom a request belongs to: the shell of what carries it.
#pragma once

#include "gateway/base/ip_address.hpp"
#include "gateway/base/proxy_header.hpp"
#include "gateway/client/options.hpp"
#include "gateway/intake/client_tls.hpp"

#include <optional>

namespace gateway::client {

class request_host {
public:
    // A request begins: its timeouts are its own, not what is left of the last one's.
    virtual void begin_timeouts_anew() = 0;

    // Last of all after each event of the upstream or of the limits: what waited may be taken up,
    // deadlines begin. `moved`: something of a body or a tunnel, which puts its deadline off. May
    // begin the next request, or give the request's memory away.
    virtual void after_event(bool moved) = 0;

    // Whether requests are questions that are answered and not forwarded.
    virtual const std::optional<decide_options>& decide() const = 0;

    // The other end of the connection.
    virtual const base::ip_address& peer() const = 0;

    // Whether the client's connection is TLS.
    virtual bool is_secure() const = 0;

    // What TLS told of the client; null: the listener does not ask for certificates.
    virtual const intake::client_tls* told_tls() const = 0;

    // Both ends of the client's connection. Asks the kernel.
    virtual base::connection_ends client_ends() const = 0;

protected:
    ~request_host() = default;
};

}  // namespace gateway::client
