// Runs, one after the other, what would hold up the main thread for too long. The thread is made at
// the start, as later there may be none to be had (pids.max). Used by the main thread.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <thread>
#include <utility>

namespace gateway {

class background_thread {
public:
    background_thread() : thread_([this] { orders_.run(); }) {}

    // Waits until all that was posted has run.
    ~background_thread()
    {
        more_to_come_.reset();
        thread_.join();
    }

    background_thread(const background_thread&) = delete;
    background_thread& operator=(const background_thread&) = delete;

    // Runs it there, behind what was posted before.
    template <class Order>
    void post(Order order)
    {
        boost::asio::post(orders_, std::move(order));
    }

private:
    boost::asio::io_context orders_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> more_to_come_{
        orders_.get_executor()};
    std::thread thread_;
};

}  // namespace gateway
