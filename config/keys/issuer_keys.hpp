// The functions here read how keys that verify tokens are fetched from an issuer.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "gateway/probes/issuer_options.hpp"

#include <string>
#include <string_view>

namespace gateway::config {

// True if `jwt.keys` is meant as a URL, and not as a path.
bool is_url(std::string_view text);

// Takes the URL of a set of keys. Returns what is wrong with it, or an empty text.
std::string take_issuer_url(const std::string& text, probes::issuer_options& options);

// Describes the keys of `jwt` that are for keys from a URL.
// Requires: `keys` has been described.
void describe_issuer(keys& jwt, probes::issuer_options& options, const draft& d);

}  // namespace gateway::config
