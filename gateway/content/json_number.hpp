// `whole_number` reads the numbers of JSON that are integers, however they are spelled.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::content {

// Returns the value of a number of JSON (RFC 8259 §6), or nothing if it is no integer from -2^63 to
// 2^63-1. `1`, `1.0`, `10e-1` and `0.1e1` are one integer; `-0` is 0. It computes with the digits,
// as a double would round.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace gateway::content
