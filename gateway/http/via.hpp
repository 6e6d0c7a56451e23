// `make_via_name` makes the gateway's name in Via, and `count_passes` detects loops by it (RFC 9110
// §7.6.3). Each process has its own name, so two gateways in a row are no loop, even if they are
// configured alike.
#pragma once

#include "gateway/http/message.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::http {

// Number of times that one request may pass one process. More than once is legitimate where a
// service calls another through the gateway and passes on the fields it got.
inline constexpr std::size_t max_passes = 4;

// Returns "gateway-" and eight hexadecimal digits.
std::string make_via_name(std::uint32_t random);

// Returns how often the request has passed this process before.
std::size_t count_passes(const request_head& head, std::string_view via_name);

}  // namespace gateway::http
