// Answers to keys that users of other gateways try: nginx, HAProxy, Envoy, Traefik, Kong. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::config {

// Returns the message about such a key, or empty. Letter case, `_` and `-` do not matter.
std::string answer_to_foreign_key(std::string_view key);

// Returns each foreign key, without `_`, with the key that does the same here.
std::span<const std::pair<std::string_view, std::string_view>> foreign_keys();

}  // namespace gateway::config
