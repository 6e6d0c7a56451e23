// Functions that write the numbers and lists of a report for people. Pure.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace gateway::replay {

// Returns "1,234,567".
std::string grouped(std::uint64_t number);

// Returns the share of `part` in `all` as "0.12 %", with two significant digits at least.
std::string percent(std::uint64_t part, std::uint64_t all);

// Returns a share from 0 to 1 in the same way.
std::string percent(double share);

// Returns "2026-11-28 00:03:14".
std::string moment_text(base::duration unix_time);

// Returns "penalty, shards".
std::string joined(std::span<const std::string> words);

// Returns "90 s", "15 min", "2 h" or "3 d", rounded down.
std::string span_text(base::duration d);

}  // namespace gateway::replay
