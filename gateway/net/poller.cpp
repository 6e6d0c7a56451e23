#include "gateway/net/poller.hpp"

#include <boost/asio/post.hpp>

#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <system_error>

namespace gateway::net {

namespace {

int open_set()
{
    const int fd = ::epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0) {
        throw std::system_error(errno, std::generic_category(), "epoll_create1");
    }
    return fd;
}

}  // namespace

poller::poller(boost::asio::io_context& context, base::turn_clock& clock)
    : context_(context), set_(context.get_executor(), open_set()), clock_(clock)
{
    wait();
}

bool poller::add(int fd, watcher& w)
{
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = &w;
    return ::epoll_ctl(set_.native_handle(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void poller::remove(int fd)
{
    ::epoll_ctl(set_.native_handle(), EPOLL_CTL_DEL, fd, nullptr);
}

void poller::wait()
{
    set_.async_wait(descriptor::wait_read, [this](const boost::system::error_code& ec) {
        if (!ec && set_.is_open()) {
            dispatch();
            wait();
        }
    });
}

void poller::dispatch()
{
    std::array<epoll_event, max_events> events;
    const int count = ::epoll_wait(set_.native_handle(), events.data(), max_events, 0);
    clock_.set(base::now());
    dispatching_ = true;
    output_.open();
    for (int i = 0; i < count; ++i) {
        const epoll_event& e = events[static_cast<std::size_t>(i)];
        static_cast<watcher*>(e.data.ptr)->ready(e.events);
        if (count < min_gathered) {
            output_.flush();
        }
    }
    output_.close();
    dispatching_ = false;
    if (!again_.empty() || !released_.empty()) {
        sweep();
    }
}

void poller::again(watcher& w)
{
    again_.push_back(&w);
    post_sweep();
}

void poller::release(watcher& w)
{
    released_.push_back(&w);
    post_sweep();
}

void poller::post_sweep()
{
    if (!dispatching_ && !sweep_posted_) {
        sweep_posted_ = true;
        boost::asio::post(context_, [this] {
            sweep_posted_ = false;
            clock_.set(base::now());
            sweep();
        });
    }
}

// Makes the calls that were asked for. A call that is asked for during this sweep waits for the
// next one, so that nobody can keep the loop from others.
void poller::sweep()
{
    swept_.clear();
    swept_.swap(again_);
    for (watcher* const w : swept_) {
        w->recheck();
    }
    swept_.clear();
    swept_.swap(released_);
    for (watcher* const w : swept_) {
        std::erase(again_, w);
        w->released();
    }
}

void poller::close()
{
    set_.close();
}

}  // namespace gateway::net
