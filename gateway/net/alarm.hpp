// Calls a function when a moment has come: once each time it is set.
//
// One thread: its executor's. A call that was cancelled, or whose alarm was destroyed, does not
// come, even if its moment had; so no owner needs to outlive a timer.
#pragma once

#include "gateway/net/loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace gateway::net {

class alarm {
public:
    // `ring` may set or destroy the alarm.
    alarm(const executor& ex, std::function<void()> ring);
    ~alarm();
    alarm(const alarm&) = delete;
    alarm& operator=(const alarm&) = delete;

    // In place of the moment that was set before.
    void set(base::instant at);
    void set(base::duration from_now);

    void cancel();

private:
    // What a call that is on its way holds on to.
    struct state {
        std::function<void()> ring;
        // Changes with each set() and cancel(): tells the call that counts from older ones.
        std::uint64_t number = 0;
    };

    timer timer_;
    std::shared_ptr<state> state_;

    void wait();
};

}  // namespace gateway::net
