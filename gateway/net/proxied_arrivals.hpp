// Connections that have been accepted from proxies and must begin with a PROXY header, until it has
// been read. They stand before whoever serves connections: what has come is looked at where it is
// (MSG_PEEK), and no more than the header is taken, so that the next reader begins right behind it,
// whatever it speaks. One thread; destroyed when it is empty.
#pragma once

#include "gateway/base/proxy_header.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/socket.hpp"

#include <list>
#include <optional>

namespace gateway::net {

// Who gets the connections. All calls come from the loop.
class arrivals_owner {
public:
    // `peer` is the proxy, as the listener told it. `told` is what its header says; nothing: it
    // speaks for itself.
    virtual void arrived(
        socket s,
        const std::optional<base::ip_address>& peer,
        const std::optional<base::connection_ends>& told
    ) = 0;

    // Closed: no whole header came in time.
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

    // Its header must have come when `limit` has passed.
    void add(socket s, const std::optional<base::ip_address>& peer, base::duration limit);

    // Each has at most `limit` from now on.
    void hurry(base::duration limit);

    bool empty() const { return all_.empty(); }

private:
    class arrival;

    loop& loop_;
    arrivals_owner& owner_;
    std::list<arrival> all_;
};

}  // namespace gateway::net
