// Parses and formats numbers, durations and sizes as people write them. They are decimal and exact,
// and nothing is guessed: "010" is refused rather than read as 8 or 10. Pure.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::base {

// Parses digits without a leading zero. A number too large for the type becomes its largest value,
// for range checks.
std::optional<std::uint64_t> parse_number(std::string_view text);

// Parses a number with one of ms, s, m, h, d. A duration too long for the type becomes its largest.
std::optional<duration> parse_duration(std::string_view text);

// Parses bytes: a number, alone or with one of KiB, MiB, GiB, TiB. A size too large for the type
// becomes its largest.
std::optional<std::uint64_t> parse_size(std::string_view text);

// Returns the shortest text that parses to the same value.
// Requires: whole milliseconds.
std::string format_duration(duration d);
// Returns the shortest text that parses to the same number of bytes.
std::string format_size(std::uint64_t bytes);

}  // namespace gateway::base
