// The keys of a shared store that only one in PostgreSQL has.
#pragma once

#include "config/keys/keys.hpp"
#include "gateway/store/shared_options.hpp"

namespace gateway::config {

// The URL has been read: it says which kind of store this is.
void describe_postgres(keys& shared, store::shared_options& options);

}  // namespace gateway::config
