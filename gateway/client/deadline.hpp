// Deadlines of what a connection or a stream waits for: how long they are, and their timers.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/client/timeout.hpp"
#include "gateway/http/options.hpp"
#include "gateway/net/loop.hpp"

namespace gateway::client {

// Returns the time that the options give for `t`. Timeouts that they lack have that of a body.
inline base::duration configured_time(timeout t, const http::options& bounds)
{
    switch (t) {
        case timeout::head:
            return bounds.header_timeout;
        case timeout::tunnel:
            return bounds.tunnel_idle_timeout;
        case timeout::linger:
            return bounds.linger_timeout;
        default:
            return bounds.body_timeout;
    }
}

// `armed_timer` is a timer, and what it runs for.
struct armed_timer {
    net::loop& loop;
    base::timer_entry& entry;
    timeout& armed;
};

// Arms the timer for `wanted`, `length_of(wanted)` from now. One that runs for the same goes on,
// unless a part of a body or a tunnel has `moved`.
// Thread: the loop's.
template <typename LengthOf>
void put_deadline(armed_timer timer, timeout wanted, bool moved, LengthOf length_of)
{
    base::timer_wheel& wheel = timer.loop.wheel();
    const bool put_off =
        moved && (wanted == timeout::body || wanted == timeout::idle || wanted == timeout::tunnel);
    if (wanted == timeout::none) {
        wheel.disarm(timer.entry);
    } else if (wanted != timer.armed || put_off) {
        wheel.arm(timer.entry, timer.loop.now() + length_of(wanted));
    }
    timer.armed = wanted;
}

}  // namespace gateway::client
