// `complaint_about_stores` checks that limits which are decided together share one shared store.
// Their decision is one atomic round trip, so it cannot span the servers of two stores.
#pragma once

#include "config/keys/draft.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::config {

// Returns what is wrong if one of these limits is in another shared store than `shared`, which is
// that of the limits before; otherwise an empty text, and `shared` is that of these, too. `whose`
// names what the limits are of, such as "route".
std::string complaint_about_stores(
    const draft& d,
    const std::vector<std::size_t>& limits,
    std::string_view whose,
    std::size_t& shared
);

}  // namespace gateway::config
