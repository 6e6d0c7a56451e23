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

// Does the same for a bucket whose name is known, and not its key: that of `operation`. Addresses
// in the name are cut to the prefix that is one client.
std::string choose_numbers(const std::optional<std::string>& plan, bucket_operation& operation);

}  // namespace gateway::limits
