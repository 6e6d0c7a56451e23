// `check` checks the rules that span several sections, which no section can check alone. The other
// functions here are parts of it.
#pragma once

#include "config/keys/draft.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::config {

void check(const draft& d, findings& found);

// Checks rate-limit services, the listeners that name them, and their limits, which have other keys
// than those of routes.
void check_services(const draft& d, findings& found);

// Marks the limits that services use.
void mark_limits_of_services(const draft& d, std::vector<bool>& used);

// Warns of each exact path if another spelling of it goes to an upstream by a route that lacks one
// of the limits of the path's own route. Other spellings are in another case, or with or without a
// '/' at the end. Warns also of each exact path that is redirected to a spelling that its own route
// matches, and so to itself.
void warn_of_loose_paths(const draft& d, findings& found);

// Checks that limits which are decided together share one shared store. Their decision is one
// atomic round trip, so it cannot span the servers of two stores. Returns what is wrong if one of
// these limits is in another shared store than `shared`, which is that of the limits before;
// otherwise an empty text, and `shared` is that of these, too. `whose` names what the limits are
// of, such as "route".
std::string complaint_about_stores(
    const draft& d,
    const std::vector<std::size_t>& limits,
    std::string_view whose,
    std::size_t& shared
);

}  // namespace gateway::config
