// The gateway's own responses to requests whose exchange with an upstream has failed. Pure.
#pragma once

#include "gateway/limits/admission.hpp"
#include "gateway/proxy/failure.hpp"

#include <string_view>

namespace gateway::client {

// Key of the time that a route gives to a whole request.
inline constexpr std::string_view route_bound = "routes.timeout";

// Refuses a request because of this failure. `bound` is the key of the time that has passed; empty:
// that of the failure counts.
limits::admission exchange_refusal(proxy::failure why, std::string_view bound);

// Refuses a request that took longer than its route allows, or than its client does, which is
// nobody's fault.
limits::admission refusal_by_route_time();
limits::admission refusal_by_client_time();

}  // namespace gateway::client
