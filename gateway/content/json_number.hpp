// `whole_number` reads the numbers of JSON that are integers, however they are spelled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::content {

// Largest integer that every parser of JSON reads exactly (RFC 7493 §2.2): 2^53-1.
inline constexpr std::int64_t largest_integer = (std::int64_t{1} << 53) - 1;

// Returns the value of a number of JSON (RFC 8259 §6), or nothing if it is no integer. Those beyond
// largest_integer, and below -largest_integer, are all one more, or one less. `1`, `1.0`, `10e-1`
// and `0.1e1` are one integer; `-0` is 0. It computes with the digits, as a double would round.
std::optional<std::int64_t> whole_number(std::string_view text);

// True if parsers that use doubles read this number of JSON as an integer within largest_integer,
// as they do of 7.00000000000000000001 and 1e-400.
bool reads_as_integer(const std::string& text);

}  // namespace gateway::content
