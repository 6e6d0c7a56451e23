// `warn_of_loose_paths` warns of exact paths of which other spellings are treated in a way that is
// hardly meant.
#pragma once

#include "config/keys/draft.hpp"

namespace gateway::config {

// Warns of each exact path if another spelling of it goes to an upstream by a route that lacks one
// of the limits of the path's own route. Other spellings are in another case, or with or without a
// '/' at the end. Warns also of each exact path that is redirected to a spelling that its own route
// matches, and so to itself.
void warn_of_loose_paths(const draft& d, findings& found);

}  // namespace gateway::config
