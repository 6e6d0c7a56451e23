// `put_deadline` arms the timer of a connection or of a stream for what it waits for.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/client/timeout.hpp"
#include "gateway/net/loop.hpp"

namespace gateway::client {

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
