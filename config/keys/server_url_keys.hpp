// `describe_server_url` describes the keys of a shared store that say where its server is, as whom
// the gateway logs in, and how the server is verified.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "gateway/store/shared_options.hpp"

namespace gateway::config {

// Describes the URL first, as it says for which kind of store the other keys are.
void describe_server_url(keys& shared, store::shared_options& options, const draft& d);

}  // namespace gateway::config
