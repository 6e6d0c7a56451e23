// `background_thread` runs tasks that would hold up the main thread for too long, one after the
// other. The thread is made at the start, as later the system may refuse one (pids.max).
// Thread: the main thread.
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

    // Waits until all tasks that were posted have run.
    ~background_thread()
    {
        more_to_come_.reset();
        thread_.join();
    }

    background_thread(const background_thread&) = delete;
    background_thread& operator=(const background_thread&) = delete;

    // Runs a task on the thread, behind those that were posted before.
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
