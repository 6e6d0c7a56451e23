// `poller` watches the readiness of a worker's data sockets. It has an edge-triggered epoll set of
// its own, into which each socket is entered once. The loop watches the set as one descriptor, so
// that Asio costs something once per turn and not per event. Measured against one async_wait per
// event (scripts/bench): -10 % CPU per rejected request.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/net/outbox.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <cstdint>
#include <vector>

namespace gateway::net {

// `watcher` is something with a socket.
// Requires: it is destroyed only in its released().
class watcher {
public:
    virtual void ready(std::uint32_t epoll_events) = 0;

    // Called after poller::again().
    virtual void recheck() = 0;
    // Called after poller::release(); may destroy *this.
    virtual void released() = 0;

protected:
    ~watcher() = default;
};

class poller {
public:
    // Most events of one turn.
    static constexpr int max_events = 256;
    // Fewest events of a turn whose sends wait until it ends. In a smaller turn sends leave after
    // each event: there is time, and a peer that waits for them can begin.
    static constexpr int min_gathered = 16;

    // `clock` is the loop's; it is read once for all events of a turn.
    poller(boost::asio::io_context& context, base::turn_clock& clock);
    poller(const poller&) = delete;
    poller& operator=(const poller&) = delete;

    // Watches the descriptor until remove(); false if memory has run out.
    [[nodiscard]] bool add(int fd, watcher& w);

    // Stops watching the descriptor.
    // Requires: it has not been closed or handed on yet.
    void remove(int fd);

    // Has recheck() called, later in this turn of the loop or in the next one.
    void again(watcher& w);
    // Has released() called likewise, after the rechecks.
    void release(watcher& w);

    // Returns the outbox of what is sent while events are handled. Its bytes leave when the turn
    // ends, or after each event of a small turn.
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
