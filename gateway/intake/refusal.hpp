// `refusal` says why a request goes no further, whatever its limits.
#pragma once

#include <string_view>

namespace gateway::intake {

struct refusal {
    enum class reason {
        none,
        // Max-Forwards: 0, which ends here (RFC 9110 §7.6.2).
        final_recipient,
        loop,
        // The connection was made for another host (RFC 9110 §7.4).
        misdirected,
        // The path is malformed, or no route matches.
        no_route,
        body_too_large,
    };
    reason why = reason::none;
    int status = 0;
    // Empty if the status is no error.
    std::string_view detail{};
};

// Refuses a request whose body is larger than its route, or `http`, allows.
inline constexpr refusal too_large_body{
    refusal::reason::body_too_large, 413, "the body is larger than this server accepts"};

}  // namespace gateway::intake
