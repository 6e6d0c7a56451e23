// `cost_by_end` is what the end of a response says that its request has cost, and
// `make_usage_reader` makes the reader of it. Pure.
#pragma once

#include "gateway/content/usage_reader.hpp"
#include "gateway/http/message.hpp"
#include "gateway/policy/outcome_rule.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace gateway::limits {

// Returns the cost, which is at most the rule's `settle_max`: the numbers in the content, each the
// last of its alternatives to come, with their weights; or the bytes of the content. Returns
// nothing if the content has none of the numbers.
// Requires: rule.reads_end().
std::optional<std::int64_t> cost_by_end(
    const policy::outcome_rule& rule, const policy::response_end& end
);

// Returns a reader of the response's content, or null if that is nothing that can be read.
std::unique_ptr<content::usage_reader> make_usage_reader(
    const content::json_paths& paths, const http::response_head& head
);

}  // namespace gateway::limits
