// `frame_budget` bounds what a peer may send that does no work, on one HTTP/2 connection: resets of
// streams (CVE-2023-44487, CVE-2025-8671), and frames such as PING, SETTINGS, PRIORITY,
// WINDOW_UPDATE and empty DATA (CVE-2019-9511 to 9518). Each kind is a token bucket. Pure.
#pragma once

#include "gateway/base/clock.hpp"

#include <algorithm>
#include <cstddef>

namespace gateway::http2 {

class frame_budget {
public:
    // Resets, by either side, that a connection may have at once, and per second from then on.
    static constexpr double reset_burst = 1000;
    static constexpr double resets_per_second = 33;
    // Frames without work, likewise.
    static constexpr double idle_burst = 1000;
    static constexpr double idle_per_second = 100;
    // Frames without work that each request allows in addition, and each frame of content that is
    // sent: the peer opens two windows for it, and may measure the round trip.
    static constexpr double idle_per_request = 10;
    static constexpr double idle_per_content = 3;

    explicit frame_budget(base::instant now) : filled_at_(now) {}

    // Takes a reset. Returns false if there have been too many.
    bool take_reset(base::instant now)
    {
        fill(now);
        return --resets_ >= 0;
    }

    // Takes a frame without work, or one that costs as much as several. Returns false if there have
    // been too many.
    bool take_idle_frame(base::instant now, std::size_t cost)
    {
        fill(now);
        idle_ -= static_cast<double>(cost);
        return idle_ >= 0;
    }

    void request_came() { allow(idle_per_request); }

    void content_sent() { allow(idle_per_content); }

private:
    base::instant filled_at_;
    double resets_ = reset_burst;
    double idle_ = idle_burst;

    void allow(double frames) { idle_ = std::min(idle_burst, idle_ + frames); }

    void fill(base::instant now)
    {
        if (now > filled_at_) {
            const double seconds = std::chrono::duration<double>(now - filled_at_).count();
            resets_ = std::min(reset_burst, resets_ + seconds * resets_per_second);
            idle_ = std::min(idle_burst, idle_ + seconds * idle_per_second);
            filled_at_ = now;
        }
    }
};

}  // namespace gateway::http2
