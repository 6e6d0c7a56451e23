#include "gateway/net/listener.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <cerrno>
#include <cstring>
#include <limits>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace gateway::net {

namespace {

using boost::asio::generic::stream_protocol;

std::string name_of(const listen_address& address)
{
    return address.socket_path.empty() ? address.host + " port " + std::to_string(address.port)
                                       : "unix:" + address.socket_path;
}

void check(bool ok, const char* what, const listen_address& address)
{
    if (!ok) {
        throw std::system_error(
            errno, std::generic_category(), std::string(what) + " " + name_of(address)
        );
    }
}

void set_option(int fd, int level, int name)
{
    const int on = 1;
    ::setsockopt(fd, level, name, &on, sizeof on);
}

// Removes a socket file that nobody listens on, which an earlier run has left. Anything else is not
// the gateway's to remove, and bind() will report it.
void remove_left_over(const listen_address& address, const stream_protocol::endpoint& endpoint)
{
    struct stat file {};

    if (::lstat(address.socket_path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) {
        return;
    }
    // EAGAIN from this non-blocking socket means that the queue is full, and thus that somebody
    // listens.
    const socket s(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int outcome = ::connect(s.fd(), endpoint.data(), static_cast<socklen_t>(endpoint.size()));
    if (outcome != 0 && errno == ECONNREFUSED) {
        ::unlink(address.socket_path.c_str());
    }
}

stream_protocol protocol_of(const socket& s)
{
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(s.fd(), reinterpret_cast<sockaddr*>(&address), &size);
    return {address.ss_family, 0};
}

}  // namespace

std::optional<base::ip_address> address_of(const sockaddr_storage& peer)
{
    if (peer.ss_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &peer, sizeof v4);
        return base::ip_address::v4(ntohl(v4.sin_addr.s_addr));
    }
    if (peer.ss_family == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, &peer, sizeof v6);
        base::ip_address::bytes bytes{};
        std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
        return base::ip_address(bytes);
    }
    return std::nullopt;
}

stream_protocol::endpoint endpoint_of(const listen_address& address)
{
    if (!address.socket_path.empty()) {
        return boost::asio::local::stream_protocol::endpoint{address.socket_path};
    }
    return boost::asio::ip::tcp::endpoint{
        boost::asio::ip::make_address(address.host), address.port};
}

socket open_listening_socket(const listen_address& address)
{
    const auto endpoint = endpoint_of(address);
    const int family = endpoint.protocol().family();
    socket s(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    check(s.is_open(), "cannot open a socket for", address);
    if (family != AF_UNIX) {
        set_option(s.fd(), SOL_SOCKET, SO_REUSEADDR);
        set_option(s.fd(), SOL_SOCKET, SO_REUSEPORT);
    }
    // The kernel caps the length of the queue at somaxconn.
    const bool ok = ::bind(s.fd(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0 &&
                    ::listen(s.fd(), std::numeric_limits<int>::max()) == 0;
    check(ok, "cannot listen on", address);
    return s;
}

unsigned short bound_port(const socket& s)
{
    boost::asio::ip::tcp::endpoint endpoint;
    socklen_t size = static_cast<socklen_t>(endpoint.capacity());
    if (::getsockname(s.fd(), endpoint.data(), &size) != 0) {
        return 0;
    }
    endpoint.resize(size);
    return endpoint.port();
}

void refuse_if_taken(const listen_address& address)
{
    const auto endpoint = endpoint_of(address);
    if (endpoint.protocol().family() == AF_UNIX) {
        remove_left_over(address, endpoint);
        return;
    }
    const socket s(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    check(s.is_open(), "cannot open a socket for", address);
    set_option(s.fd(), SOL_SOCKET, SO_REUSEADDR);
    const bool ok = ::bind(s.fd(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0;
    check(ok, "cannot listen on", address);
}

listener::listener(loop& l, socket listening, acceptor_owner& owner)
    : loop_(l),
      protocol_(protocol_of(listening)),
      acceptor_(l.get_executor(), protocol_, listening.release()),
      retry_(l.get_executor(), [this] { wait(); }),
      owner_(owner)
{}

void listener::start()
{
    wait();
}

void listener::resume()
{
    paused_ = false;
    wait();
}

void listener::close(queued rest)
{
    if (!acceptor_.is_open()) {
        return;
    }
    while (rest == queued::accepted && !paused_ && accept_some(accepts_per_wake)) {
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            break;
        }
    }
    retry_.cancel();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
}

void listener::wait()
{
    if (waiting_ || paused_ || !acceptor_.is_open()) {
        return;
    }
    waiting_ = true;
    acceptor_.async_wait(acceptor::wait_read, [this](const boost::system::error_code& ec) {
        waiting_ = false;
        if (ec || !acceptor_.is_open()) {
            return;
        }
        loop_.refresh_now();
        if (accept_some(accepts_per_wake)) {
            wait();
        } else {
            retry_.set(pause_after_failure);
        }
    });
}

// Leaves the reason in errno: EAGAIN if the queue is empty, 0 if `most` were accepted.
bool listener::accept_some(int most)
{
    for (int i = 0; i < most; ++i) {
        if (!owner_.make_room()) {
            paused_ = true;
            return true;
        }
        // The address is taken here, because a peer that leaves in the meantime has none any more.
        sockaddr_storage peer{};
        socklen_t size = sizeof peer;
        socket s(::accept4(
            acceptor_.native_handle(),
            reinterpret_cast<sockaddr*>(&peer),
            &size,
            SOCK_NONBLOCK | SOCK_CLOEXEC
        ));
        if (!s.is_open()) {
            const int error = errno;
            owner_.room_unused();
            errno = error;
            const bool exhausted =
                error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
            // Any other error is the fault of that one connection, or means an empty queue.
            return !exhausted;
        }
        owner_.accepted(std::move(s), address_of(peer));
    }
    errno = 0;
    return true;
}

}  // namespace gateway::net
