// Where a prefix of the normal form of a path ends in the path as it came.
#pragma once

#include <string_view>

namespace gateway::policy {

struct path_rest {
    // What follows the separators behind the prefix; a slice of the path.
    std::string_view text{};
    // Whether there was a separator, so that a '/' belongs before the text.
    bool separated = false;
};

// `path` is one that normalise_path() accepts, and `prefix` whole segments of its normal form,
// without a '/' at the end: empty, or "/v1/x". However the path spells the prefix ("//v1", "/%761",
// "/v1;a=b"), the result is what comes behind it, spelt as it came; of separators there, encoded
// ones too, none is left, so that what begins with '/' and the text names no host.
path_rest past_prefix(std::string_view path, std::string_view prefix);

}  // namespace gateway::policy
