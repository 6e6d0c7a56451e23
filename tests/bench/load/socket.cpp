#include "socket.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace bench {

namespace {

sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

void set(int fd, int level, int option, int value = 1)
{
    setsockopt(fd, level, option, &value, sizeof(value));
}

void dial(int fd, std::uint16_t port)
{
    const sockaddr_in address = loopback(port);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        fail("connect");
    }
    set(fd, IPPROTO_TCP, TCP_NODELAY);
}

}  // namespace

void fail(const char* what)
{
    std::perror(what);
    std::exit(1);
}

int listen_on(std::uint16_t port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    set(fd, SOL_SOCKET, SO_REUSEADDR);
    const sockaddr_in address = loopback(port);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        listen(fd, 4096) != 0) {
        fail("listen");
    }
    return fd;
}

int connect_to(std::uint16_t port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    dial(fd, port);
    return fd;
}

int connect_from_afar(std::uint16_t port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    set(fd, SOL_SOCKET, SO_RCVBUF, 4096);
    set(fd, IPPROTO_TCP, TCP_MAXSEG, 1460);
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    dial(fd, port);
    return fd;
}

int accept_from(int listener)
{
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        set(fd, IPPROTO_TCP, TCP_NODELAY);
    }
    return fd;
}

void allow_many_files()
{
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

loop::loop() : epoll_{epoll_create1(EPOLL_CLOEXEC)}
{
    if (epoll_ < 0) {
        fail("epoll_create1");
    }
}

void loop::add(int fd, watcher& who) const
{
    control(EPOLL_CTL_ADD, fd, who, EPOLLIN);
}

void loop::watch_writing(int fd, watcher& who, bool on) const
{
    control(EPOLL_CTL_MOD, fd, who, on ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void loop::control(int operation, int fd, watcher& who, std::uint32_t events) const
{
    epoll_event event{};
    event.events = events;
    event.data.ptr = &who;
    if (epoll_ctl(epoll_, operation, fd, &event) != 0) {
        fail("epoll_ctl");
    }
}

void loop::turn(nanoseconds patience) const
{
    std::array<epoll_event, 256> events;
    const timespec timeout{.tv_sec = 0, .tv_nsec = patience.count()};
    const int count = epoll_pwait2(epoll_, events.data(), events.size(), &timeout, nullptr);
    for (int i = 0; i < count; ++i) {
        static_cast<watcher*>(events[static_cast<std::size_t>(i)].data.ptr)->ready();
    }
}

}  // namespace bench
