// `choose_numbers()` chooses which of a limit's numbers an operation on a bucket uses: those of the
// plan that it names, those of the plan that the key has, or the limit's own.
#pragma once

#include "gateway/limits/bucket_operations.hpp"

#include <optional>
#include <span>
#include <string>

namespace gateway::limits {

// Sets `operation.numbers` for the limit that `operation` names. `key` has the values of its parts.
// Returns what is wrong, in a sentence for people; empty if nothing is.
std::string choose_numbers(
    const std::optional<std::string>& plan,
    std::span<const std::string> key,
    bucket_operation& operation
);

}  // namespace gateway::limits
