// Receives from and sends to a non-blocking socket. The functions return a number of bytes, or -1
// with errno.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace gateway::net {

// Receives as recv() does, but is no cancellation point, and send_to() is none either. A
// cancellation point costs two atomic operations in a process with threads, and no thread here is
// ever cancelled.
inline ssize_t receive_from(int fd, void* bytes, std::size_t size, int flags)
{
    return ::syscall(SYS_recvfrom, fd, bytes, size, flags, nullptr, nullptr);
}

inline ssize_t send_to(int fd, const void* bytes, std::size_t size, int flags)
{
    return ::syscall(SYS_sendto, fd, bytes, size, flags, nullptr, 0);
}

// Sends `a`, then `b`, and returns the number of bytes accepted, or -1 with errno.
inline ssize_t send_some(int fd, std::string_view a, std::string_view b)
{
    if (b.empty()) {
        return send_to(fd, a.data(), a.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    std::array<iovec, 2> parts{
        iovec{const_cast<char*>(a.data()), a.size()},
        iovec{const_cast<char*>(b.data()), b.size()},
    };
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

inline bool would_block(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace gateway::net
