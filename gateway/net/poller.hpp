// Readiness of a worker's data sockets: an epoll set of its own, edge-triggered, each socket
// entered once. The loop watches the set as one descriptor, so a turn costs Asio once and not per
// event. Measured against one async_wait per event (scripts/bench): -10 % CPU per rejected request.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/net/outbox.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <cstdint>
#include <vector>

namespace gateway::net {

// Something with a socket. Must not be destroyed but from its released().
class watcher {
public:
    virtual void ready(std::uint32_t epoll_events) = 0;

    // What was asked for by poller::again().
    virtual void recheck() = 0;
    // What was asked for by poller::release(); may destroy *this.
    virtual void released() = 0;

protected:
    ~watcher() = default;
};

class poller {
public:
    // Most events per turn.
    static constexpr int max_events = 256;
    // Fewest events of a turn whose sends wait until it ends. With fewer, what is sent leaves after
    // each event: there is time, and a peer that waits for it can begin.
    static constexpr int min_gathered = 16;

    // `clock`: the loop's, read once for all events of a turn.
    poller(boost::asio::io_context& context, base::turn_clock& clock);
    poller(const poller&) = delete;
    poller& operator=(const poller&) = delete;

    // Watches the descriptor until remove(); false: out of memory.
    [[nodiscard]] bool add(int fd, watcher& w);

    // Watches it no more. Before it is closed, or handed on.
    void remove(int fd);

    // Later in this turn of the loop, or in the next one: recheck(), released().
    void again(watcher& w);
    void release(watcher& w);

    // What is sent while events are handled: it leaves when the turn ends, or after each event of a
    // small one.
    outbox& output() { return output_; }

    // Ends the watching, so that the loop can end.
    void close();

private:
    using descriptor =
        boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;

    boost::asio::io_context& context_;
    descriptor set_;
    base::turn_clock& clock_;
    outbox output_;
    bool dispatching_ = false;
    bool sweep_posted_ = false;
    std::vector<watcher*> again_;
    std::vector<watcher*> released_;

    // A spare list, kept for its memory.
    std::vector<watcher*> swept_;

    void wait();
    void dispatch();
    void post_sweep();
    void sweep();
};

}  // namespace gateway::net
