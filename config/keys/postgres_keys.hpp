// `describe_postgres` describes the keys that only a shared store in PostgreSQL has.
#pragma once

#include "config/keys/keys.hpp"
#include "gateway/store/shared_options.hpp"

namespace gateway::config {

// Requires: the URL has been read, as it says which kind of store this is.
void describe_postgres(keys& shared, store::shared_options& options);

}  // namespace gateway::config
