// `admission` says whether a request may go on, and what the gateway responds if not.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/http/grpc/grpc_status.hpp"
#include "gateway/http/output/added_fields.hpp"
#include "gateway/http/output/fixed_response.hpp"
#include "gateway/intake/refusal.hpp"

#include <optional>
#include <string_view>

namespace gateway::limits {

struct admission {
    // read: the request's content is to be read first, see intake::routed_request.
    enum class action { forward, respond, wait, read };
    action next = action::forward;
    // Status to respond with, if `next` is `respond`.
    int status = 0;

    std::string_view detail;
    // Key of the timeout or bound that ends the request, for the log; empty if none does.
    std::string_view bound{};
    // The limit that has rejected the request, if `next` is `forward` all the same: it goes to the
    // upstream that its route has for those. Empty: none has.
    std::string_view over_limit{};
    // Time until the request's tokens are there, if `next` is `forward`.
    base::duration hold{0};
    // Wait that Retry-After reports to the client; 0 if it reports none.
    base::duration retry_after{0};
    // Field to add to the response.
    http::named_value extra{};
    // Response that the route configures, in place of an upstream's or of the gateway's own; null
    // if there is none.
    const http::fixed_response* fixed = nullptr;
    // True if the request waits for keys, if `next` is `wait`, and is to be admitted anew then.
    bool awaits_keys = false;
    // True if the configuration asks for this status, so that it is no error whatever it is: limits
    // refuse the request, its route answers it, or a decide listener has a rejected_status.
    bool intended = false;
    // True if the rest of the request is not to be read.
    bool leaves_rest_unread = false;

    // ---- Of requests of gRPC.
    // Code of the response, which is gRPC's. Nothing: the response is HTTP's.
    std::optional<http::grpc_status> grpc{};
    // True if the response is HTTP's all the same, as the route has written it.
    bool stays_http = false;
    // True if a time for the whole request has passed.
    bool timed_out = false;
    // True if that time was the client's own.
    bool given_up = false;
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
    };
}

// Refuses a request whose body is larger than its route, or `http`, allows.
inline admission body_too_large()
{
    admission a = refusal(intake::too_large_body.status, intake::too_large_body.detail);
    a.bound = "http.max_body_bytes";
    a.leaves_rest_unread = true;
    return a;
}

// Refuses a request whose token no key can verify, as none has been fetched yet.
inline admission keys_not_fetched()
{
    admission a = refusal(
        503, "the keys that verify tokens have not been fetched yet", std::chrono::seconds{1}
    );
    a.intended = true;
    return a;
}

// Refuses a request after the decision about it, which depended on its content.
inline admission content_unclear_later()
{
    admission a = refusal(
        400, "the content is no JSON object that is read in one way, as its later part shows"
    );
    a.leaves_rest_unread = true;
    return a;
}

// Refuses a request whose content there is no room to keep.
inline admission no_room_for_content()
{
    admission a = refusal(
        503,
        "the gateway keeps too much of requests whose content it reads",
        std::chrono::seconds{1}
    );
    a.leaves_rest_unread = true;
    return a;
}

}  // namespace gateway::limits
