// Whether a request may go on, and what the gateway responds if not.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/http/output/fixed_response.hpp"

#include <string_view>

namespace gateway::limits {

struct admission {
    enum class action { forward, respond, wait };
    action next = action::forward;
    // The status to respond with, if `next` is `respond`.
    int status = 0;

    std::string_view detail;
    // Key of the time-out or bound that ends the request, for the log; empty: none does.
    std::string_view bound{};
    // If `next` is `forward`: how long until the request's tokens are there.
    base::duration hold{0};
    // How long the client is told to wait; 0: nothing is said of it.
    base::duration retry_after{0};
    // Header lines to add to the response.
    std::string_view extra;
    // What the route says instead of an upstream; null: nothing.
    const http::fixed_response* fixed = nullptr;
    // True if the configuration asks for this status, so that it is no error whatever it is: limits
    // refuse the request, its route answers it, or a decide listener has a rejected_status.
    bool intended = false;
    // Whether the rest of the request is not to be read.
    bool leaves_rest_unread = false;
};

inline admission refusal(
    int status, std::string_view detail, base::duration retry_after = base::duration{0}
)
{
    return {
        .next = admission::action::respond,
        .status = status,
        .detail = detail,
        .hold = {},
        .retry_after = retry_after,
        .extra = {},
    };
}

// Refuses a request whose body is larger than its route, or `http`, allows.
inline admission body_too_large()
{
    admission a = refusal(413, "the body is larger than this server accepts");
    a.bound = "http.max_body_bytes";
    a.leaves_rest_unread = true;
    return a;
}

}  // namespace gateway::limits
