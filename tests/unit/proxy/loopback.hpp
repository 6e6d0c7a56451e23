// The other end of a connection, in the test's own thread: everything on it is immediate.
#pragma once

#include "gateway/net/listener.hpp"
#include "gateway/net/loop.hpp"

#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace gateway::proxy::testing {

// Runs the loop, one event at a time, until `done` says so.
template <typename Done>
void run_until(net::loop& l, Done done)
{
    while (!done()) {
        if (l.context().run_one() == 0) {
            l.context().restart();
        }
    }
}

class loopback_server {
public:
    loopback_server()
        : socket_(net::open_listening_socket({.host = "127.0.0.1", .port = 0, .socket_path = {}}))
    {}

    ~loopback_server()
    {
        for (const int fd : accepted_) {
            ::close(fd);
        }
    }

    loopback_server(const loopback_server&) = delete;
    loopback_server& operator=(const loopback_server&) = delete;

    unsigned short port() const { return net::bound_port(socket_); }

    void say(std::string_view bytes)
    {
        (void)::send(last(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }

    // So many bytes of the last one to connect; hangs unless they come.
    std::string hear(std::size_t count)
    {
        std::string bytes(count, '\0');
        const ssize_t n = ::recv(last(), bytes.data(), count, MSG_WAITALL);
        return n < 0 ? "" : bytes.substr(0, static_cast<std::size_t>(n));
    }

    void close_last()
    {
        ::close(last());
        accepted_.pop_back();
    }

private:
    net::socket socket_;
    std::vector<int> accepted_;

    int last()  // to connect
    {
        for (int fd = 0; (fd = ::accept(socket_.fd(), nullptr, nullptr)) >= 0;) {
            accepted_.push_back(fd);
        }
        return accepted_.back();
    }
};

// Where nobody listens.
inline unsigned short closed_port()
{
    return net::bound_port(
        net::open_listening_socket({.host = "127.0.0.1", .port = 0, .socket_path = {}})
    );
}

// A listener whose queue is full: it does not answer who wants to connect.
class full_listener {
public:
    full_listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        ::bind(fd_, any, size);
        ::listen(fd_, 0);
        ::getsockname(fd_, any, &size);
        port_ = ntohs(address.sin_port);
        for (int i = 0; i < 4; ++i) {
            clients_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
            ::connect(clients_.back(), any, size);
        }
    }

    ~full_listener()
    {
        for (const int fd : clients_) {
            ::close(fd);
        }
        ::close(fd_);
    }

    full_listener(const full_listener&) = delete;
    full_listener& operator=(const full_listener&) = delete;

    unsigned short port() const { return port_; }

private:
    int fd_;
    unsigned short port_ = 0;
    std::vector<int> clients_;
};

}  // namespace gateway::proxy::testing
