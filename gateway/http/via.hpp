// Our name in Via, and the loop it betrays (RFC 9110 §7.6.3). The name is one process's own: two
// gateways in a row are no loop, however alike they are configured.
#pragma once

#include "gateway/http/message.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::http {

// How often one request may pass one process. More than once is honest where a service calls
// another through the gateway and hands on the fields it got.
inline constexpr std::size_t max_passes = 4;

// "gateway-" and eight hexadecimal digits.
std::string make_via_name(std::uint32_t random);

// How often the request has passed here before.
std::size_t count_passes(const request_head& head, std::string_view via_name);

}  // namespace gateway::http
