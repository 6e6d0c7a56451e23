// `socket` owns an open socket, and closes it. It is moved from owner to owner and never copied.
// Its owner knows its purpose (listening, a connection).
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace gateway::net {

class socket {
public:
    socket() = default;

    // Takes over a descriptor; a negative one stands for none.
    explicit socket(int fd) : fd_(fd) {}

    socket(socket&& other) noexcept : fd_(other.release()) {}

    socket& operator=(socket&& other) noexcept
    {
        if (this != &other) {
            close();
            fd_ = other.release();
        }
        return *this;
    }

    ~socket() { close(); }

    bool is_open() const { return fd_ >= 0; }

    // Returns the descriptor for a system call; it stays this object's to close.
    int fd() const { return fd_; }

    // Lets small writes leave at once (TCP_NODELAY); sockets other than TCP do so anyway.
    void send_without_delay() const
    {
        const int on = 1;
        ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }

    // Hands ownership to something that takes a bare descriptor, as Asio's objects do.
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }

    void close()
    {
        if (is_open()) {
            ::close(release());
        }
    }

private:
    int fd_ = -1;
};

}  // namespace gateway::net
