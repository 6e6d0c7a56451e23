// `loop` holds what exists once per worker thread and every connection uses: the io_context, the
// timer wheel, the clock, and the read buffer that lets an idle connection own none.
// Thread: one thread only; others may only post to context() (asio::post).
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/timer_wheel.hpp"
#include "gateway/net/poller.hpp"
#include "gateway/net/tls/tls_engine.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace gateway::net {

using executor = boost::asio::io_context::executor_type;

using timer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock,
    boost::asio::wait_traits<std::chrono::steady_clock>,
    executor>;

// Buffers that connections with TLS borrow in turn.
struct tls_buffers {
    // The text of what has been received.
    std::array<char, tls_engine::text_bytes(64 * 1024)> text;
    // Encrypted bytes on their way to the socket.
    std::string output;
};

class loop {
public:
    static constexpr std::size_t read_buffer_bytes = 64 * 1024;
    static constexpr base::duration tick = std::chrono::milliseconds{25};
    // Number of slots of the timer wheel, one per tick; one turn of the wheel takes 102 s.
    static constexpr std::size_t wheel_slots = 4096;

    loop();
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    executor get_executor() { return context_.get_executor(); }

    boost::asio::io_context& context() { return context_; }

    base::timer_wheel& wheel() { return wheel_; }

    poller& data() { return data_; }

    // Returns the time of the last clock reading: one per turn of the data sockets, and one per
    // event of anything else, whose code calls refresh_now() first.
    base::instant now() const { return clock_.now(); }

    base::instant refresh_now()
    {
        clock_.set(base::now());
        return now();
    }

    const base::turn_clock& clock() const { return clock_; }

    // Returns the buffer for receiving; valid until the next receive on this thread.
    std::span<char> read_buffer() { return read_buffer_; }

    // Returns the buffers for TLS; valid until the next connection with TLS receives or sends on
    // this thread.
    tls_buffers& tls()
    {
        if (tls_buffers_ == nullptr) {
            tls_buffers_ = std::make_unique<tls_buffers>();
        }
        return *tls_buffers_;
    }

    void on_tick(std::function<void(base::instant)> action) { tick_action_ = std::move(action); }

    // Runs until stop() has been called and nothing is left to wait for.
    void run();

    // Lets run() end.
    // Requires: no connection is left.
    void stop();

private:
    boost::asio::io_context context_;
    base::turn_clock clock_;
    poller data_;
    base::timer_wheel wheel_;
    timer ticker_;
    bool ticking_ = true;
    std::function<void(base::instant)> tick_action_;
    std::array<char, read_buffer_bytes> read_buffer_;
    // The buffers for TLS; null until the first use.
    std::unique_ptr<tls_buffers> tls_buffers_;

    void schedule_tick();
};

}  // namespace gateway::net
