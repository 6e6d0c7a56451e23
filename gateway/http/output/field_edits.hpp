// Fields that are taken out of a head, and fields that are set in it: prepared once, then only
// read, by any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::http {

struct field_edits {
    // Names and values. A field that is set replaces all of its name.
    std::vector<std::pair<std::string, std::string>> set;
    // Names.
    std::vector<std::string> remove;

    // What follows from `set`: its lines, and those of them that responses of the gateway's own
    // get, which say themselves what their content is and who may keep it.
    std::string lines;
    std::string own_lines;

    // Fills in what follows; the last step of making one.
    void finish();

    bool any() const { return !set.empty() || !remove.empty(); }

    // Whether a field that came does not stay. Neither does one that a server which makes variables
    // of names could take for it.
    bool takes_out(std::string_view name) const;
};

}  // namespace gateway::http
