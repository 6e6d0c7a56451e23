// `field_edits` lists the fields that are removed from a head and those that are set in it.
// Thread: any, once it is prepared, as it is then only read.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::http {

// Name of the field that says which limit has rejected a request that goes upstream all the same.
inline constexpr std::string_view over_limit_field = "X-Over-Limit";

struct field_edits {
    // Names and values. A field that is set replaces all fields of its name.
    std::vector<std::pair<std::string, std::string>> set;
    // Names of the fields to remove.
    std::vector<std::string> remove;
    // True if X-Over-Limit is removed, too, which is the gateway's to say.
    bool hides_over_limit = false;

    // The lines of `set`: all of them, and those for the gateway's own responses, which have their
    // own Content-Type and Cache-Control.
    std::string lines;
    std::string own_lines;

    // Fills in `lines` and `own_lines`, as the last step of making edits.
    void finish();

    bool any() const { return !set.empty() || !remove.empty() || hides_over_limit; }

    // True if a received field of this name is removed. A name that a server could take for it,
    // when it turns names into variables, is removed as well.
    bool takes_out(std::string_view name) const;
};

}  // namespace gateway::http
