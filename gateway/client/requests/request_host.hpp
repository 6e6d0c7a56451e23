// `request_host` is the connection that a request belongs to: the shell of what carries it.
#pragma once

#include "gateway/base/ip_address.hpp"
#include "gateway/base/proxy_header.hpp"
#include "gateway/client/options.hpp"
#include "gateway/intake/client_tls.hpp"

#include <optional>
#include <string_view>

namespace gateway::client {

class request_host {
public:
    // Called when a request begins. Its timeouts are its own, not what is left of the last one's.
    virtual void begin_timeouts_anew() = 0;

    // Takes up what waited, and sets deadlines. It is the last call after each event of the
    // upstream, of the limits or of the route's timeout. It may begin the next request, or give the
    // request's memory away. `moved`: a part of a body or a tunnel has moved, which puts its
    // deadline off.
    virtual void after_event(bool moved) = 0;

    // Returns the options of the decide listener that the request came to; nothing if requests are
    // forwarded.
    virtual const std::optional<decide_options>& decide() const = 0;

    // Returns the name of the rate-limit service that the listener serves; empty: none.
    virtual std::string_view rate_limit_service() const = 0;

    // Returns the address of the other end of the connection.
    virtual const base::ip_address& peer() const = 0;

    // True if the client's connection is TLS.
    virtual bool is_secure() const = 0;

    // Returns what TLS says of the client, or null if the listener does not ask for certificates.
    virtual const intake::client_tls* client_tls() const = 0;

    // Returns both ends of the client's connection. Asks the kernel, unless a PROXY header has
    // named them.
    virtual base::connection_ends client_ends() const = 0;

protected:
    ~request_host() = default;
};

}  // namespace gateway::client
