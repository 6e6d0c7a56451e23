#include "gateway/net/proxied_arrivals.hpp"

#include "gateway/net/socket_io.hpp"

#include <algorithm>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>

namespace gateway::net {

class proxied_arrivals::arrival final : private watcher, private base::timer_entry {
public:
    arrival(proxied_arrivals& of, socket s, const std::optional<base::ip_address>& peer)
        : of_(of), socket_(std::move(s)), peer_(peer)
    {}

    void start(base::duration limit);
    void shorten_wait(base::duration limit);

    // Position of the arrival in the list.
    std::list<arrival>::iterator self;

private:
    proxied_arrivals& of_;
    // The socket; not open once the connection has been handed on or closed.
    socket socket_;
    std::optional<base::ip_address> peer_;
    bool arrived_ = false;

    void arrive(const base::proxy_header& header);
    void close();

    // Interface `watcher`.
    void ready(std::uint32_t epoll_events) override;

    void recheck() override {}

    void released() override;

    // Interface `timer_entry`.
    void expired(base::instant) override { close(); }
};

void proxied_arrivals::arrival::start(base::duration limit)
{
    if (!of_.loop_.data().add(socket_.fd(), *this)) {
        close();
        return;
    }
    of_.loop_.wheel().arm(*this, of_.loop_.now() + limit);
}

void proxied_arrivals::arrival::shorten_wait(base::duration limit)
{
    if (socket_.is_open()) {
        of_.loop_.wheel().arm(*this, std::min(deadline(), of_.loop_.now() + limit));
    }
}

// Leaves what has come in the kernel until the whole header is there.
void proxied_arrivals::arrival::ready(std::uint32_t epoll_events)
{
    if (!socket_.is_open()) {
        return;
    }
    const auto buffer = of_.loop_.read_buffer().first(base::proxy_header::max_bytes);
    const ssize_t n = ::recv(socket_.fd(), buffer.data(), buffer.size(), MSG_PEEK | MSG_DONTWAIT);
    const bool nothing_yet = n < 0 && would_block(errno);
    const bool ended = (epoll_events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    const auto came = static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    const auto header = base::read_proxy_header({buffer.data(), came});
    using verdict = base::proxy_header::verdict;
    if (header.is == verdict::whole) {
        arrive(header);
    } else if (header.is == verdict::malformed || ended || (n <= 0 && !nothing_yet)) {
        close();
    }
}

// Takes the header and nothing behind it.
void proxied_arrivals::arrival::arrive(const base::proxy_header& header)
{
    const auto buffer = of_.loop_.read_buffer().first(header.size);
    const ssize_t taken = ::recv(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (taken != static_cast<ssize_t>(header.size)) {
        close();
        return;
    }
    arrived_ = true;
    of_.loop_.wheel().disarm(*this);
    of_.loop_.data().remove(socket_.fd());
    of_.loop_.data().release(*this);
    of_.owner_.arrived(std::move(socket_), peer_, header.ends);
}

void proxied_arrivals::arrival::close()
{
    of_.loop_.wheel().disarm(*this);
    of_.loop_.data().remove(socket_.fd());
    socket_.close();
    of_.loop_.data().release(*this);
}

void proxied_arrivals::arrival::released()
{
    proxied_arrivals& of = of_;
    const auto peer = peer_;
    const bool arrived = arrived_;
    of.all_.erase(self);
    if (!arrived) {
        of.owner_.turned_away(peer);
    }
}

proxied_arrivals::proxied_arrivals(loop& l, arrivals_owner& owner) : loop_(l), owner_(owner) {}

proxied_arrivals::~proxied_arrivals() = default;

void proxied_arrivals::add(
    socket s, const std::optional<base::ip_address>& peer, base::duration limit
)
{
    arrival& a = all_.emplace_back(*this, std::move(s), peer);
    a.self = std::prev(all_.end());
    a.start(limit);
}

void proxied_arrivals::shorten_wait(base::duration limit)
{
    for (arrival& a : all_) {
        a.shorten_wait(limit);
    }
}

}  // namespace gateway::net
