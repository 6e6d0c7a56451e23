// `proxied_arrivals` holds accepted connections that must begin with a PROXY header, until the
// header has been read. It peeks at what has come (MSG_PEEK) and takes no more than the header, so
// that the next reader begins right behind it, whatever the connection's protocol is.
// Thread: one thread only.
// Requires: empty() when it is destroyed.
#pragma once

#include "gateway/base/proxy_header.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/socket.hpp"

#include <list>
#include <optional>

namespace gateway::net {

// `arrivals_owner` gets the connections. All calls come from the loop.
class arrivals_owner {
public:
    // Takes a connection. `peer` is the proxy's address from the listener. `ends` are those of
    // the header, or nothing if the socket's own ends count.
    virtual void arrived(
        socket s,
        const std::optional<base::ip_address>& peer,
        const std::optional<base::connection_ends>& ends
    ) = 0;

    // Reports a connection that was closed because no whole and valid header came in time.
    virtual void turned_away(const std::optional<base::ip_address>& peer) = 0;

protected:
    ~arrivals_owner() = default;
};

class proxied_arrivals {
public:
    proxied_arrivals(loop& l, arrivals_owner& owner);
    ~proxied_arrivals();
    proxied_arrivals(const proxied_arrivals&) = delete;
    proxied_arrivals& operator=(const proxied_arrivals&) = delete;

    // Adds a connection whose header must come within `limit`.
    void add(socket s, const std::optional<base::ip_address>& peer, base::duration limit);

    // Shortens the remaining time of each connection to at most `limit`.
    void shorten_wait(base::duration limit);

    bool empty() const { return all_.empty(); }

private:
    class arrival;

    loop& loop_;
    arrivals_owner& owner_;
    std::list<arrival> all_;
};

}  // namespace gateway::net
