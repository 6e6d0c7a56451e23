// The part of `connection` that sends and ends.
#include "gateway/base/text.hpp"
#include "gateway/net/connection.hpp"
#include "gateway/net/socket_io.hpp"

#include <algorithm>
#include <sys/socket.h>

namespace gateway::net {

sent connection::send(std::string_view a, std::string_view b)
{
    if (!closed() && !sending() && loop_.data().output().take(*this, a, b)) {
        gathered_ = true;
        return sent::all;
    }
    return send_at_once(a, b);
}

sent connection::send_at_once(std::string_view a, std::string_view b)
{
    if (closed()) {
        return sent::broken;
    }
    flush();
    return send_now(a, b);
}

bool connection::at_rest()
{
    flush();
    return !closed() && !sending() &&
           (!may_be_readable_ || (tls_ != nullptr && hears_no_text() && !may_be_readable_));
}

// Sends what is gathered; sending() is exact afterwards.
void connection::flush()
{
    if (gathered_) {
        loop_.data().output().flush();
    }
}

// Sends bytes that the owner believes to have been sent. The owner learns of a remainder later, and
// not from inside a call of its own.
void connection::send_gathered(std::string_view bytes)
{
    gathered_ = false;
    const sent result = send_now(bytes, {});
    if (result == sent::some) {
        held_back_ = true;
        loop_.data().again(*this);
    }
}

sent connection::send_now(std::string_view a, std::string_view b)
{
    return tls_ == nullptr ? send_bytes(a, b) : send_coded(a, b);
}

sent connection::send_coded(std::string_view a, std::string_view b)
{
    std::string& output = loop_.tls().output;
    output.clear();
    if (!tls_->send(a, output) || !tls_->send(b, output)) {
        fail_sending();
    }
    if (close_notify_due_) {
        tls_->send_close_notify(output);
    }
    return output.empty() && !send_failed_ ? sent::all : send_bytes(output, {});
}

// Sends bytes as they are on the wire: the text itself, or the records of TLS.
sent connection::send_bytes(std::string_view a, std::string_view b)
{
    // Nothing may follow bytes that were lost.
    if (send_failed_) {
        want_read();
        return sent::broken;
    }
    if (sending()) {
        unsent_.append(a).append(b);
        return sent::some;
    }
    const ssize_t n = send_some(socket_.fd(), a, b);
    if (n < 0 && !would_block(errno)) {
        send_failed_ = true;
        want_read();
        return sent::broken;
    }
    const std::size_t taken = n < 0 ? 0 : static_cast<std::size_t>(n);
    if (taken == a.size() + b.size()) {
        return sent::all;
    }
    unsent_.assign(a.substr(std::min(taken, a.size())));
    unsent_.append(b.substr(taken > a.size() ? taken - a.size() : 0));
    unsent_at_ = 0;
    // The epoll edge that reports room is still to come.
    return sent::some;
}

void connection::continue_sending()
{
    const std::string_view rest = std::string_view(unsent_).substr(unsent_at_);
    const ssize_t n = send_some(socket_.fd(), rest, {});
    if (n < 0 && !would_block(errno)) {
        send_failed_ = true;
        broken();
        return;
    }
    unsent_at_ += n < 0 ? 0 : static_cast<std::size_t>(n);
    if (sending()) {
        backlog_changed();
        return;
    }
    unsent_at_ = 0;
    if (tls_ != nullptr) {
        tls_->forget_unread();
    }
    // A stall may have needed much memory.
    base::clear_keeping_nothing(unsent_);
    if (closing_) {
        close();
        return;
    }
    if (finishing_) {
        finish_sending();
    }
    drained();
}

// Sends TLS's close_notify, in one segment with the gathered bytes if there are any.
void connection::send_close_notify()
{
    close_notify_due_ = true;
    flush();
    if (tls_ != nullptr && !sending() && !send_failed_) {
        std::string& output = loop_.tls().output;
        output.clear();
        tls_->send_close_notify(output);
        if (!output.empty()) {
            send_bytes(output, {});
        }
    }
}

void connection::finish_sending()
{
    send_close_notify();
    finishing_ = sending();
    if (!finishing_) {
        ::shutdown(socket_.fd(), SHUT_WR);
    }
}

void connection::reset()
{
    if (!closed()) {
        flush();
        const linger cut_off{1, 0};
        ::setsockopt(socket_.fd(), SOL_SOCKET, SO_LINGER, &cut_off, sizeof cut_off);
        // The engine goes first, so that close() announces no orderly end.
        tls_.reset();
        close();
    }
}

void connection::close_when_sent()
{
    send_close_notify();
    closing_ = sending();
    if (!closing_) {
        close();
    }
}

void connection::close()
{
    if (!closed()) {
        send_close_notify();
        // Closing alone would not suffice while a process that is being started has a copy of the
        // descriptor (fork(2)).
        loop_.data().remove(socket_.fd());
        socket_.close();
        wants_read_ = false;
        loop_.data().release(*this);
    }
}

}  // namespace gateway::net
