// `read_grpc_timeout` reads `grpc-timeout`, the time that the client of a gRPC call allows it.
// Pure.
#pragma once

#include "gateway/base/clock.hpp"

#include <optional>
#include <string_view>

namespace gateway::http {

// Longest time that counts, so that a deadline can be added up. A longer one counts as this.
inline constexpr base::duration longest_grpc_timeout = std::chrono::hours{24 * 365};

// Reads a value: 1 to 8 digits and a unit, such as "250m" for 250 ms. Returns nothing if it is
// malformed or zero.
std::optional<base::duration> read_grpc_timeout(std::string_view value);

}  // namespace gateway::http
