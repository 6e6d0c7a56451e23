#include "gateway/net/connection.hpp"

#include "gateway/base/text.hpp"
#include "gateway/net/socket_ends.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <utility>

namespace gateway::net {

namespace {

// As recv() and send(), without being cancellation points: those cost two atomic operations in a
// process with threads, and no thread of ours is ever cancelled.
ssize_t receive_from(int fd, void* bytes, std::size_t size, int flags)
{
    return ::syscall(SYS_recvfrom, fd, bytes, size, flags, nullptr, nullptr);
}

ssize_t send_to(int fd, const void* bytes, std::size_t size, int flags)
{
    return ::syscall(SYS_sendto, fd, bytes, size, flags, nullptr, 0);
}

// Bytes accepted, or -1 with errno.
ssize_t send_some(int fd, std::string_view a, std::string_view b)
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

bool would_block(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

connection::connection(loop& l, socket connected) : loop_(l), socket_(std::move(connected))
{
    socket_.send_without_delay();
    if (!loop_.data().add(socket_.fd(), *this)) {
        close();
    }
}

void connection::speak_tls(std::unique_ptr<tls_engine> engine)
{
    flush();
    tls_ = std::move(engine);
    if (!closed() && tls_->speaks_first()) {
        tls_buffers& lent = loop_.tls();
        std::size_t none = 0;
        lent.output.clear();
        if (tls_->receive({}, lent.text, none, lent.output) == tls_engine::result::failed) {
            send_failed_ = true;
            ended_ = may_be_readable_ = true;  // receiving will tell
        }
        send_bytes(lent.output, {});
    }
}

// With edge triggering the kernel tells of news only: what is left of older news is ours to
// remember.
void connection::want_read()
{
    if (wants_read_ || closed()) {
        return;
    }
    wants_read_ = true;
    if (may_be_readable_) {
        loop_.data().again(*this);
    }
}

void connection::ready(std::uint32_t epoll_events)
{
    if (closed()) {
        return;
    }
    tell_held_back();
    if ((epoll_events & EPOLLOUT) != 0 && sending()) {
        continue_sending();
    }
    ended_ = ended_ || (epoll_events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    may_be_readable_ = may_be_readable_ || ended_ || (epoll_events & EPOLLIN) != 0;
    recheck();
}

void connection::tell_held_back()
{
    if (std::exchange(held_back_, false) && sending() && !closed()) {
        backlog_changed();
    }
}

void connection::recheck()
{
    tell_held_back();
    if (wants_read_ && may_be_readable_) {
        wants_read_ = false;
        readable();
    }
}

received connection::receive(std::span<char>& bytes)
{
    return tls_ == nullptr ? receive_bytes(bytes) : receive_text(bytes);
}

received connection::receive_bytes(std::span<char>& bytes)
{
    const std::span<char> buffer = loop_.read_buffer();
    const ssize_t n = receive_from(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0) {
        bytes = buffer.first(static_cast<std::size_t>(n));
        may_be_readable_ = bytes.size() == buffer.size() || ended_;
        return received::data;
    }
    if (n < 0 && would_block(errno)) {
        may_be_readable_ = false;
        return received::nothing;
    }
    return n == 0 && !send_failed_ ? received::closed : received::broken;
}

// All that has come is decoded at once, so only the kernel holds what was not looked at.
received connection::receive_text(std::span<char>& text)
{
    if (tls_->failed() || tls_->peer_has_ended()) {
        return tls_->failed() ? received::broken : received::closed;
    }
    std::span<char> coded;
    const received got = receive_bytes(coded);
    if (got == received::closed && !tls_->may_end_silently()) {
        return received::broken;
    }
    if (got != received::data) {
        return got;
    }
    tls_buffers& lent = loop_.tls();
    std::size_t count = 0;
    lent.output.clear();
    const tls_engine::result what = tls_->receive(coded, lent.text, count, lent.output);
    if (!lent.output.empty() && !send_answer(lent.output)) {
        return received::broken;
    }
    text = std::span<char>{lent.text}.first(count);
    switch (what) {
        case tls_engine::result::text:
            may_be_readable_ = may_be_readable_ || tls_->peer_has_ended();
            return received::data;
        case tls_engine::result::nothing:
            return received::nothing;
        case tls_engine::result::closed:
            return received::closed;
        case tls_engine::result::failed:
            break;
    }
    return received::broken;
}

// A peer may ask for answers, by updates of its keys, and not read them. False: too many of them.
bool connection::send_answer(std::string_view coded)
{
    if (sending() && tls_->count_unread(coded.size()) > most_unread_answers) {
        send_failed_ = true;
        return false;
    }
    send_bytes(coded, {});
    return true;
}

bool connection::is_quiet() const
{
    char byte = 0;
    return receive_from(socket_.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && would_block(errno);
}

bool connection::hears_no_text()
{
    std::span<char> unasked;
    return receive_text(unasked) == received::nothing;
}

base::connection_ends connection::ends() const
{
    return ends_of(socket_);
}

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

// After this sending() is the whole truth.
void connection::flush()
{
    if (gathered_) {
        loop_.data().output().flush();
    }
}

// The owner took it for sent and is told otherwise, but not from inside a call of its own.
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
        send_failed_ = true;
    }
    if (says_end_) {
        tls_->say_end(output);
    }
    return output.empty() && !send_failed_ ? sent::all : send_bytes(output, {});
}

// What is on the wire.
sent connection::send_bytes(std::string_view a, std::string_view b)
{
    if (send_failed_) {  // nothing may follow what was lost
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
    return sent::some;  // the edge that tells of room is still to come
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
    base::clear_keeping_nothing(unsent_);  // a stalled moment may have needed much
    if (closing_) {
        close();
        return;
    }
    if (finishing_) {
        finish_sending();
    }
    drained();
}

// In one segment with what was gathered, if anything was.
void connection::say_end()
{
    says_end_ = true;
    flush();
    if (tls_ != nullptr && !sending() && !send_failed_) {
        std::string& output = loop_.tls().output;
        output.clear();
        tls_->say_end(output);
        if (!output.empty()) {
            send_bytes(output, {});
        }
    }
}

void connection::finish_sending()
{
    say_end();
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
        tls_.reset();  // without a word
        close();
    }
}

void connection::close_when_sent()
{
    say_end();
    closing_ = sending();
    if (!closing_) {
        close();
    }
}

void connection::close()
{
    if (!closed()) {
        say_end();
        // Closing is not enough while a process that is being started has a copy (fork(2)).
        loop_.data().remove(socket_.fd());
        socket_.close();
        wants_read_ = false;
        loop_.data().release(*this);
    }
}

}  // namespace gateway::net
