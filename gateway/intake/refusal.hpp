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
        // The content is one on which the route depends, and cannot be read in one way.
        unclear_content,
        // The route depends on content behind the part that is read.
        long_content,
    };
    reason why = reason::none;
    int status = 0;
    // Empty if the status is no error.
    std::string_view detail{};
};

// Refuses a request whose body is larger than its route, or `http`, allows.
inline constexpr refusal too_large_body{
    refusal::reason::body_too_large, 413, "the body is larger than this server accepts"};

inline constexpr refusal unclear_content{
    refusal::reason::unclear_content,
    400,
    "the route depends on the content, which is no JSON object that is read in one way"};

// Refuses a request whose route or limits depend on members that are not within
// `max_inspected_body`.
inline constexpr refusal long_content{
    refusal::reason::long_content,
    413,
    "the beginning of the content lacks a member on which the route or its limits depend"};

}  // namespace gateway::intake
