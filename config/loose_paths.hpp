// `warn_of_loose_paths` warns of exact paths of which other spellings are treated in a way that is
// hardly meant.
#pragma once

#include "config/keys/draft.hpp"

namespace gateway::config {

// Warns of each exact path with limits of which another spelling goes to an upstream by a route
// that lacks one of these limits. Other spellings are in another case, or with or without a '/' at
// the end. Warns also of each exact path that is redirected to such a spelling, and so to itself.
void warn_of_loose_paths(const draft& d, findings& found);

}  // namespace gateway::config
