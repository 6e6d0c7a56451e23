#include "gateway/net/connection.hpp"

#include "gateway/net/listener.hpp"
#include "gateway/net/socket_io.hpp"

#include <algorithm>
#include <cstring>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>

namespace gateway::net {

namespace {

base::endpoint end_of(const sockaddr_storage& end)
{
    const auto address = address_of(end);
    if (!address) {
        return {base::ip_address::v4(INADDR_LOOPBACK), 0};
    }
    // The port has the same offset in both families.
    static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
    sockaddr_in with_port{};
    std::memcpy(&with_port, &end, sizeof with_port);
    return {*address, ntohs(with_port.sin_port)};
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
            fail_sending();
        }
        send_bytes(lent.output, {});
    }
}

// The kernel reports only new events (edge triggering), so that may_be_readable_ remembers what is
// left of older ones.
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

// Makes receiving report the failure, as the socket itself may know nothing of it.
void connection::fail_sending()
{
    send_failed_ = true;
    ended_ = may_be_readable_ = true;
    if (wants_read_) {
        loop_.data().again(*this);
    }
}

void connection::ready(std::uint32_t epoll_events)
{
    if (closed()) {
        return;
    }
    report_held_back();
    if ((epoll_events & EPOLLOUT) != 0 && sending()) {
        continue_sending();
    }
    const bool ends = (epoll_events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    const bool resets = (epoll_events & EPOLLERR) != 0;
    const bool is_news = (ends && !ended_) || (resets && !was_reset_);
    ended_ = ended_ || ends;
    was_reset_ = was_reset_ || resets;
    may_be_readable_ = may_be_readable_ || ended_ || (epoll_events & EPOLLIN) != 0;
    recheck();
    if (is_news && !closed()) {
        hung_up();
    }
}

void connection::report_held_back()
{
    if (std::exchange(held_back_, false) && sending() && !closed()) {
        backlog_changed();
    }
}

void connection::recheck()
{
    report_held_back();
    if (wants_read_ && may_be_readable_) {
        wants_read_ = false;
        readable();
    }
}

received connection::receive(std::span<char>& bytes, std::size_t most)
{
    return tls_ == nullptr ? receive_bytes(bytes, most) : receive_text(bytes, most);
}

received connection::receive_bytes(std::span<char>& bytes, std::size_t most)
{
    const std::span<char> all = loop_.read_buffer();
    const std::span<char> buffer = all.first(std::min(all.size(), most));
    const ssize_t n = receive_from(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0) {
        bytes = buffer.first(static_cast<std::size_t>(n));
        may_be_readable_ = bytes.size() == buffer.size() || ended_;
        return received::data;
    }
    if (n < 0 && would_block(errno)) {
        may_be_readable_ = false;
        return send_failed_ ? received::broken : received::nothing;
    }
    return n == 0 && !send_failed_ ? received::closed : received::broken;
}

// Decodes all that has come at once, so that unread bytes are in the kernel only.
received connection::receive_text(std::span<char>& text, std::size_t most)
{
    if (tls_->failed() || tls_->peer_has_ended()) {
        return tls_->failed() ? received::broken : received::closed;
    }
    std::span<char> coded;
    const received got = receive_bytes(coded, most);
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

// Sends an answer of TLS itself, and returns false if too many are unread: a peer may cause answers
// with key updates and never read them.
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
    return receive_text(unasked, SIZE_MAX) == received::nothing;
}

base::connection_ends connection::ends(const base::ip_address& peer) const
{
    sockaddr_storage there{};
    sockaddr_storage here{};
    socklen_t there_size = sizeof there;
    socklen_t here_size = sizeof here;
    ::getpeername(socket_.fd(), reinterpret_cast<sockaddr*>(&there), &there_size);
    ::getsockname(socket_.fd(), reinterpret_cast<sockaddr*>(&here), &here_size);
    return {{peer, end_of(there).port}, end_of(here)};
}

}  // namespace gateway::net
