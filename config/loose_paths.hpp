// Warns of exact paths of which other spellings do something that hardly anybody means.
#pragma once

#include "config/keys/draft.hpp"

namespace gateway::config {

// Warns of each exact path with limits whose other spellings, in another case or with or without a
// '/' at the end, go to an upstream by a route that lacks one of these limits, and of each one that
// is redirected to such a spelling and so to itself.
void warn_of_loose_paths(const draft& d, findings& found);

}  // namespace gateway::config
