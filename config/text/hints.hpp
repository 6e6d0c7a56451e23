// Hints at what was probably meant, for messages about mistakes. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::config {

// These hint at the likely meaning of a rate, duration or size that is not spelled as ours are:
// "10/sec" is "10/s". They return `, did you mean "10/s"?`, or empty if the meaning cannot be told.
// Nothing is ever read in these spellings.
std::string rate_hint(std::string_view text);
std::string duration_hint(std::string_view text);
std::string size_hint(std::string_view text);

// Returns the advice on a line that is not valid YAML, or empty if nothing in it stands out.
std::string_view yaml_hint(std::string_view line);

// The advice on "${NAME}", wherever that stands.
inline constexpr std::string_view not_expanded =
    "${...} is not expanded: write the value itself, or as a whole { env: NAME } or { file: PATH }";

// Returns the message about a key that users of other gateways try (nginx, HAProxy, Envoy, Traefik,
// Kong), or empty. Letter case, `_` and `-` do not matter.
std::string answer_to_foreign_key(std::string_view key);

// Returns each foreign key, without `_`, with the key that does the same here.
std::span<const std::pair<std::string_view, std::string_view>> foreign_keys();

}  // namespace gateway::config
