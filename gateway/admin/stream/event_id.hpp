// `event_id` names a second of one process in the stream, so that a viewer who comes back is sent
// only what it has missed. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::admin {

// Returns "PROCESS-NUMBER". `process` tells one process from the next.
std::string event_id(std::string_view process, std::uint64_t number);

// Returns the number in an id of this process, or 0 for any other text.
std::uint64_t event_number(std::string_view id, std::string_view process);

}  // namespace gateway::admin
