// `worker_group` is all workers of a process. It passes calls on to each, and knows when all have
// ended.
// Thread: the main thread.
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
    // Makes an empty group.
    // Ownership: both arguments outlive it.
    worker_group(boost::asio::io_context& control, worker::shared_state& shared);

    // Makes one worker for each element of `listening`, which holds its sockets of `listeners`. The
    // workers do not run yet.
    void make(
        const worker::snapshot& first,
        const std::vector<client::listener_options>& listeners,
        std::vector<std::vector<worker::opened_listener>> listening
    );

    // Starts the workers. Calls `ended` when the last one has ended.
    void start(std::function<void()> ended);

    void reload(const std::shared_ptr<const worker::snapshot>& s);

    // Lets requests go on that wait for keys.
    void stop_waiting_for_keys();

    // Stops accepting connections, and ends each worker when its requests have finished.
    // Connections that remain after `timeout` are closed.
    void drain(net::queued rest, base::duration timeout);

    // Returns all workers, including those that have ended.
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
