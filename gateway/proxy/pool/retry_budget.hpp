// `retry_budget` bounds the requests that may be sent a second time: a share of those sent once, so
// that retries cannot multiply the load of an upstream that is failing already, and a few per
// second in any case, for upstreams with little traffic. It is pure; one per worker and upstream.
//
// A server that dies loses all its requests at once: of two servers, half of the requests under
// way. Their repetition takes half a request for each under way, which 20 % have saved after 2.5
// requests for each. The savings are bounded by most_saved.
//
// A request that was lost with a connection which had served before takes nothing: that connection
// has had a response and is lost once, so there are no more of these retries than responses.
#pragma once

#include "gateway/base/clock.hpp"

#include <algorithm>
#include <cstdint>

namespace gateway::proxy {

class retry_budget {
public:
    // Retries per second that are permitted whatever the traffic.
    static constexpr std::uint32_t per_second = 10;

    static constexpr std::uint32_t most_saved = 1000;

    explicit retry_budget(std::uint32_t percent) : percent_(percent) {}

    void request() { saved_ = std::min(saved_ + percent_, most_saved * 100); }

    // Takes a retry. Returns true if permitted. `reused`: the lost connection had served before,
    // or its server has refused the request.
    bool take_retry(base::instant now, bool reused)
    {
        if (percent_ == 0 || reused) {
            return percent_ != 0;
        }
        if (now - second_ >= std::chrono::seconds{1}) {
            second_ = now;
            in_second_ = 0;
        }
        if (in_second_ < per_second) {
            ++in_second_;
            return true;
        }
        if (saved_ < 100) {
            return false;
        }
        saved_ -= 100;
        return true;
    }

private:
    std::uint32_t percent_;

    // Savings, in hundredths of a retry.
    std::uint32_t saved_ = 0;
    // Beginning of the current second.
    base::instant second_{};
    // Number of retries in the current second that were permitted whatever the traffic.
    std::uint32_t in_second_ = 0;
};

}  // namespace gateway::proxy
