// The keys of a shared store that say where its server is, who we are there and how it is known.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "gateway/store/shared_options.hpp"

namespace gateway::config {

// The URL comes first: it says which kind of store the other keys are for.
void describe_server_url(keys& shared, store::shared_options& options, const draft& d);

}  // namespace gateway::config
