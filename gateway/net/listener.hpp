// `listener` accepts connections on one address for one worker. The kernel spreads them over the
// workers through SO_REUSEPORT. When descriptors or room run out, it stops asking and costs
// nothing.
#pragma once

#include "gateway/base/ip_address.hpp"
#include "gateway/net/alarm.hpp"
#include "gateway/net/listen_address.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/socket.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <optional>
#include <string>
#include <sys/socket.h>

namespace gateway::net {

// Opens a listening socket. One process may open several for the same address and port. Call
// refuse_if_taken() first, or another process may share them.
// Errors: throws std::system_error with the address in its text.
socket open_listening_socket(const listen_address& address);

// Throws std::system_error if anybody listens on that TCP address and port, even someone who would
// share it. Removes the file of a Unix socket that nobody listens on.
void refuse_if_taken(const listen_address& address);

// Returns the port that a socket is bound to, which the kernel chose if 0 was asked for.
unsigned short bound_port(const socket& s);

// Returns the peer's address; nothing for the peer of a Unix socket, which has none.
std::optional<base::ip_address> address_of(const sockaddr_storage& peer);

// `acceptor_owner` gets the connections. It is asked for room before each is taken, so that its
// bound is never exceeded.
class acceptor_owner {
public:
    // Reserves room for one connection. False if there is none for now; call resume() once there
    // is.
    virtual bool make_room() = 0;
    // Returns the room that make_room() reserved and that is not needed after all.
    virtual void room_unused() = 0;

    // Takes an accepted connection; `peer` is nothing for a Unix socket, which has no address.
    virtual void accepted(socket s, const std::optional<base::ip_address>& peer) = 0;

protected:
    ~acceptor_owner() = default;
};

// The fate of connections that the kernel has queued when a listener stops: they are accepted, so
// that nobody is reset, or left to another process that has the same socket.
enum class queued : bool { accepted, left };

class listener {
public:
    // Most connections accepted at a time; existing connections have their turn next.
    static constexpr int accepts_per_wake = 16;

    static constexpr base::duration pause_after_failure = std::chrono::milliseconds{100};

    // Other workers' listeners may accept from the same queue (Unix sockets).
    listener(loop& l, socket listening, acceptor_owner& owner);

    void start();
    // Goes on accepting, after room has become free.
    void resume();
    // Stops listening.
    void close(queued rest);

private:
    using acceptor =
        boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol, executor>;

    loop& loop_;
    boost::asio::generic::stream_protocol protocol_;
    acceptor acceptor_;
    alarm retry_;
    acceptor_owner& owner_;
    bool waiting_ = false;

    // True if it has stopped asking for want of room.
    bool paused_ = false;

    void wait();

    // Accepts at most `most` connections; false if descriptors or memory have run out.
    bool accept_some(int most);
};

}  // namespace gateway::net
