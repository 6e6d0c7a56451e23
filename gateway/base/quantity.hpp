// Numbers, durations and sizes as people write them. Decimal, exact, without guessing: "010" is
// refused rather than read as 8 or 10. Pure.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::base {

// Digits without a leading zero. Too large for the type: its largest value, for range checks.
std::optional<std::uint64_t> parse_number(std::string_view text);

// A number and one of ms, s, m, h, d. Too long for the type: its largest value.
std::optional<duration> parse_duration(std::string_view text);

// Bytes: a number, or a number and one of KiB, MiB, GiB, TiB. Too large: the largest value.
std::optional<std::uint64_t> parse_size(std::string_view text);

// The shortest text that parses to the same value; durations are whole milliseconds.
std::string format_duration(duration d);
std::string format_size(std::uint64_t bytes);

}  // namespace gateway::base
