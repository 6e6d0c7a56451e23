// `ask_admin` asks the admin API of a running gateway, for the commands.
// Thread: the main thread.
#pragma once

#include "gateway/net/listen_address.hpp"
#include "gateway/probes/control_http.hpp"

#include <string>
#include <string_view>

namespace gateway {

struct admin_reply {
    // Reason why there is no answer; empty if there is one.
    std::string failed{};
    unsigned status = 0;
    std::string body{};
};

// Sends the request, and waits for its answer, together for at most `longest_wait`. Completes the
// fields that every request has.
admin_reply ask_admin(
    const net::listen_address& admin, probes::control_upload request, base::duration longest_wait
);

// Returns the `detail` of problem details (RFC 9457), or an empty text if the body is none.
std::string problem_detail(std::string_view body);

}  // namespace gateway
