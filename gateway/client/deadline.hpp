// `put_deadline` arms the timer of a connection or of a stream for what it waits for.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/client/timeout.hpp"
#include "gateway/net/loop.hpp"

namespace gateway::client {

// Arms `entry` for `wanted`, `length_of(wanted)` from now. One that runs for the same goes on,
// unless a part of a body or a tunnel has `moved`. `armed` is what it runs for.
// Thread: the loop's.
template <typename LengthOf>
void put_deadline(
    net::loop& loop,
    base::timer_entry& entry,
    timeout& armed,
    timeout wanted,
    bool moved,
    LengthOf length_of
)
{
    const bool put_off =
        moved && (wanted == timeout::body || wanted == timeout::idle || wanted == timeout::tunnel);
    if (wanted == timeout::none) {
        loop.wheel().disarm(entry);
    } else if (wanted != armed || put_off) {
        loop.wheel().arm(entry, loop.now() + length_of(wanted));
    }
    armed = wanted;
}

}  // namespace gateway::client
