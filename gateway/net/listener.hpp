// Accepts connections on one address of one worker, through SO_REUSEPORT so that the kernel spreads
// them. At the descriptor limit, or for want of room, it stops asking and costs nothing.
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

// An open listening socket; throws std::system_error with the address in its text. One process may
// open several for the same address and port; refuse_if_taken() first, or another process may
// share.
socket open_listening_socket(const listen_address& address);

// Throws if anybody listens on that address and port already, even someone who would share it.
void refuse_if_taken(const listen_address& address);

// The port a socket is bound to (the kernel chose it if 0 was asked for).
unsigned short bound_port(const socket& s);

// Nothing: the peer of a Unix socket, which has none.
std::optional<base::ip_address> address_of(const sockaddr_storage& peer);

// Who gets the connections. Room is asked for before each is taken, so a bound is never passed.
class acceptor_owner {
public:
    // Asks for room for one connection. False: no more for now; call resume() when there is some.
    virtual bool make_room() = 0;
    // What make_room() promised is not needed after all.
    virtual void room_unused() = 0;

    // `peer` is nothing for a Unix socket's, which has no address.
    virtual void accepted(socket s, const std::optional<base::ip_address>& peer) = 0;

protected:
    ~acceptor_owner() = default;
};

// What becomes of connections that the kernel has queued when a listener stops: they are accepted,
// so that nobody is reset, or left to another process that has the same socket.
enum class queued : bool { accepted, left };

class listener {
public:
    // Most connections that are accepted at a time; then those that exist have their turn.
    static constexpr int accepts_per_wake = 16;

    static constexpr base::duration pause_after_failure = std::chrono::milliseconds{100};

    // Other workers' listeners may accept from the same queue (Unix sockets).
    listener(loop& l, socket listening, acceptor_owner& owner);

    void start();
    // Tells that there is room again.
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

    // It has stopped asking, for want of room.
    bool paused_ = false;

    void wait();

    // Accepts at most `most` connections; false: out of descriptors or memory.
    bool accept_some(int most);
};

}  // namespace gateway::net
