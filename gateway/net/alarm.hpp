// `alarm` calls a function at a set time, once each time it is set. A call that was cancelled, or
// whose alarm was destroyed, does not come even if its time has passed, so that no owner needs to
// outlive a timer.
// Thread: the one of its executor.
#pragma once

#include "gateway/net/loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace gateway::net {

class alarm {
public:
    // Makes an alarm that calls `ring`, which may set or destroy the alarm.
    alarm(const executor& ex, std::function<void()> ring);
    ~alarm();
    alarm(const alarm&) = delete;
    alarm& operator=(const alarm&) = delete;

    // Sets the time of the next call, in place of one that was set before.
    void set(base::instant at);
    void set(base::duration from_now);

    void cancel();

private:
    // The state that a pending call shares with the alarm.
    struct state {
        std::function<void()> ring;
        // Number of the last set() or cancel(), by which the call that counts differs from older
        // ones.
        std::uint64_t number = 0;
    };

    timer timer_;
    std::shared_ptr<state> state_;

    void wait();
};

}  // namespace gateway::net
