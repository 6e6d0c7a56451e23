// `past_prefix` finds, in a path as received, the end of a prefix of its normal form.
#pragma once

#include <string_view>

namespace gateway::policy {

struct path_rest {
    // The text behind the prefix and the separators that follow it. A slice of the path.
    std::string_view text{};
    // True if there was a separator, so that a '/' belongs before the text.
    bool separated = false;
};

// Returns what follows the prefix, spelled as received, whatever the spelling of the prefix
// ("//v1", "/%761", "/v1;a=b"). All separators there are removed, encoded ones too, so that a '/'
// and the text name no host.
// Requires: normalise_path() accepts `path`, and `prefix` is whole segments of its normal form,
// without a '/' at the end: empty, or "/v1/x".
path_rest past_prefix(std::string_view path, std::string_view prefix);

}  // namespace gateway::policy
