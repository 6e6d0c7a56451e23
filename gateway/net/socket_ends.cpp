#include "gateway/net/socket_ends.hpp"

#include "gateway/net/listener.hpp"

#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>

namespace gateway::net {

namespace {

base::endpoint endpoint_of(const sockaddr_storage& end)
{
    const auto address = address_of(end);
    if (!address) {
        return {base::ip_address::v4(INADDR_LOOPBACK), 0};
    }
    // The port has the same offset in both families.
    static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
    sockaddr_in with_port{};
    std::memcpy(&with_port, &end, sizeof with_port);
    return {*address, ntohs(with_port.sin_port)};
}

}  // namespace

base::connection_ends ends_of(const socket& accepted, const base::ip_address& peer)
{
    sockaddr_storage there{};
    sockaddr_storage here{};
    socklen_t there_size = sizeof there;
    socklen_t here_size = sizeof here;
    ::getpeername(accepted.fd(), reinterpret_cast<sockaddr*>(&there), &there_size);
    ::getsockname(accepted.fd(), reinterpret_cast<sockaddr*>(&here), &here_size);
    return {{peer, endpoint_of(there).port}, endpoint_of(here)};
}

}  // namespace gateway::net
