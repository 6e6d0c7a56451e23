// `logged_request` is what a line of an access log tells of a request. Plain value.
// Ownership: it views into the bytes of its line.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/http/grpc/grpc_status.hpp"
#include "gateway/limits/finished.hpp"
#include "gateway/replay/logs/wanted_parts.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gateway::replay {

// `part_text` is the value of a wanted part.
struct part_text {
    std::size_t part = 0;
    std::string_view text;
};

// Longest time that a request may have taken. A log that tells of more tells nothing.
inline constexpr base::duration longest_duration = std::chrono::hours{24 * 7};

using limits::client_left;

// `verdict` is that of limits on a request. A malformed request has none, as it is refused before
// they are asked. What is left out is no request of a route.
enum class verdict : std::uint8_t { allowed, rejected, unjudged, malformed, left_out };

struct logged_request {
    // Moment of the decision, or of the arrival, in Unix time.
    base::duration at{0};
    // Time from then until the request was over. Set with `knows_duration`.
    base::duration duration{0};
    // The client, by the proxy that wrote the log, or only its peer. See `client_is_peer`.
    base::ip_address client;
    std::string_view method;
    // The path, with its query if the log holds that.
    std::string_view target;
    // Empty if the log holds none.
    std::string_view host;
    // Route in the configuration of the gateway that wrote the log; empty: unknown.
    std::string_view route;
    int status = 0;
    // Outcome, if the request is a call of gRPC and the log tells it.
    std::optional<http::grpc_status> grpc_status;
    // The limit that decided; empty: the log names none.
    std::string_view limit;
    // Tokens that the request cost under that limit, or under each if none is named. Set with
    // `knows_cost`. `costs` has those of each limit, as a JSON object or as `a=1,b=2`, if the log
    // tells them.
    std::int64_t cost = 0;
    std::string_view costs;
    // The wanted parts that the log tells of, and the values of those that the request had. A
    // header that had several lines occurs as often.
    part_set known = 0;
    std::span<const part_text> parts;
    // Wanted parts that the line hides, whatever the log tells in other lines.
    part_set hidden = 0;
    // Verdict of the limits when the line was written: allowed, rejected, or unjudged if the line
    // tells none.
    verdict was = verdict::unjudged;
    // True if `client` is the address of the connection, so that headers may name another one.
    bool client_is_peer = false;
    // True if the request was refused before limits were asked, or by a limit that could not read
    // its key or its cost: it was malformed, say.
    bool refused_early = false;
    // True if the gateway was only asked about the request, so that the response that its client
    // got is not known: `status` is the answer to the question.
    bool decided_only = false;
    // True if the line tells of a question of Envoy's, which is no request of a route.
    bool asked_by_envoy = false;
};

}  // namespace gateway::replay
