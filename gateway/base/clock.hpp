// The time types that all parts share, and the functions that read the clocks.
//
// Pure code takes an `instant` as an argument; only code with effects calls the functions below.
#pragma once

#include <chrono>

namespace gateway::base {

using duration = std::chrono::nanoseconds;

// A moment on this machine's monotonic clock. It never steps back; zero is an arbitrary past
// moment.
using instant = std::chrono::time_point<std::chrono::steady_clock, duration>;

inline instant now() noexcept
{
    return std::chrono::steady_clock::now();
}

// `turn_clock` holds the time of a loop's turn, which is read once for all events of the turn.
class turn_clock {
public:
    instant now() const { return now_; }

    void set(instant now) { now_ = now; }

private:
    instant now_{};
};

// Returns wall-clock time since the Unix epoch, for logs, metrics and epoch-valued headers only.
inline duration unix_time() noexcept
{
    return std::chrono::system_clock::now().time_since_epoch();
}

}  // namespace gateway::base
