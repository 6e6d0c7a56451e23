// Rules that span sections: what each section alone cannot see.
#pragma once

#include "config/keys/draft.hpp"

namespace gateway::config {

void check(const draft& d, findings& found);

}  // namespace gateway::config
