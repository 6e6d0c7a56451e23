// `numbers_of()` makes a limit's limit::limit from what was read of it.
#pragma once

#include "config/limits/limit_draft.hpp"

#include <optional>

namespace gateway::config {

// Most windows of tokens that a bucket holds if its windows begin by a calendar, as a shared store
// is told when each of them begins.
inline constexpr std::int64_t most_windows_held = 60;

// Returns the limit, or reports a problem and returns nothing if its numbers are impossible.
// Requires: its rate, or number of permits, has been read.
std::optional<limit::limit> numbers_of(section& from, const limit_draft& l, draft& d);

}  // namespace gateway::config
