// A limit's algebra, made of what was read of it.
#pragma once

#include "config/limits/limit_draft.hpp"

#include <optional>

namespace gateway::config {

// In a bucket whose windows begin by a calendar, as a shared store is told when each of them
// begins.
inline constexpr std::int64_t most_windows_held = 60;

// Of a limit whose rate, or number of places, was read. Nothing and a problem: it cannot be.
std::optional<limit::limit> numbers_of(section& from, const limit_draft& l, draft& d);

}  // namespace gateway::config
