// The workers of a process as one: what is asked of all of them, and when they have all ended.
//
// On the main thread.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/worker/worker.hpp"

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace gateway {

class worker_group {
public:
    // Both must outlive it.
    worker_group(boost::asio::io_context& control, worker::shared_state& shared);

    // One for each element of `listening`, which has its sockets of `listeners`. They do not run
    // yet.
    void make(
        const worker::snapshot& first,
        const std::vector<client::listener_options>& listeners,
        std::vector<std::vector<worker::opened_listener>> listening
    );

    // Calls `ended` when the last one has.
    void start(std::function<void()> ended);

    void reload(const std::shared_ptr<const worker::snapshot>& s);

    // Accepts nobody any more, and ends all workers when they have finished what runs. What has not
    // after `timeout` is closed.
    void drain(net::queued rest, base::duration timeout);

    // Also those that have ended.
    std::vector<worker::worker*> all();

    std::size_t size() const { return workers_.size(); }

private:
    boost::asio::io_context& control_;
    worker::shared_state& shared_;
    std::deque<worker::worker> workers_;
    std::size_t running_ = 0;
    std::function<void()> ended_;
    net::alarm drain_timeout_;

    void abort();
    void one_ended();
};

}  // namespace gateway
