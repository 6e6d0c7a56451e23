#include "gateway/net/connection.hpp"

#include <boost/asio/post.hpp>

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

namespace gateway::net {

namespace {

// Bytes accepted, or -1 with errno.
ssize_t send_some(int fd, std::string_view a, std::string_view b)
{
    if (b.empty()) {
        return ::send(fd, a.data(), a.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
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

bool would_block(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

void connection::want_read()
{
    if (reading_ || closed_) {
        return;
    }
    reading_ = true;
    hold();
    socket_.async_wait(stream_socket::wait_read, [this](const boost::system::error_code&) {
        reading_ = false;
        if (!closed_) {
            loop_.refresh_now();
            readable();
        }
        let_go();
    });
}

received connection::receive(std::span<char>& bytes)
{
    const std::span<char> buffer = loop_.read_buffer();
    const ssize_t n = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0) {
        bytes = buffer.first(static_cast<std::size_t>(n));
        return received::data;
    }
    return n < 0 && would_block(errno) ? received::nothing : received::closed;
}

sent connection::send(std::string_view a, std::string_view b)
{
    if (closed_) {
        return sent::broken;
    }
    if (sending()) {
        unsent_.append(a).append(b);
        return sent::some;
    }
    const ssize_t n = send_some(socket_.native_handle(), a, b);
    if (n < 0 && !would_block(errno)) {
        return sent::broken;
    }
    const std::size_t taken = n < 0 ? 0 : static_cast<std::size_t>(n);
    if (taken == a.size() + b.size()) {
        return sent::all;
    }
    unsent_.assign(a.substr(std::min(taken, a.size())));
    unsent_.append(b.substr(taken > a.size() ? taken - a.size() : 0));
    unsent_at_ = 0;
    wait_writable();
    return sent::some;
}

void connection::wait_writable()
{
    hold();
    socket_.async_wait(stream_socket::wait_write, [this](const boost::system::error_code&) {
        if (!closed_) {
            loop_.refresh_now();
            continue_sending();
        }
        let_go();
    });
}

void connection::continue_sending()
{
    const std::string_view rest = std::string_view(unsent_).substr(unsent_at_);
    const ssize_t n = send_some(socket_.native_handle(), rest, {});
    if (n < 0 && !would_block(errno)) {
        broken();
        return;
    }
    unsent_at_ += n < 0 ? 0 : static_cast<std::size_t>(n);
    if (sending()) {
        wait_writable();
        return;
    }
    unsent_at_ = 0;
    unsent_ = {};  // a stalled moment may have needed much: keep none of it
    drained();
}

void connection::finish_sending()
{
    boost::system::error_code ignored;
    socket_.shutdown(stream_socket::shutdown_send, ignored);
}

void connection::reset()
{
    boost::system::error_code ignored;
    socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    close();
}

void connection::close()
{
    if (closed_) {
        return;
    }
    closed_ = true;
    boost::system::error_code ignored;
    socket_.close(ignored);
    hold();  // released() never comes from inside this call
    boost::asio::post(loop_.context(), [this] { let_go(); });
}

void connection::let_go()
{
    if (--pending_ == 0 && closed_) {
        released();
    }
}

}  // namespace gateway::net
