// `path_index` finds the routes of one host by path: those that mind the case of letters, and
// beside them those that ignore it.
#pragma once

#include "gateway/policy/paths/path_table.hpp"
#include "gateway/policy/route.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace gateway::policy {

// Returns the path of a match in the form in which it is compared. The prefixes "/v1" and "/v1/"
// are one, and so are "/V1" and "/v1" if the match ignores the case of letters.
std::string compared_path(const route_match& match);

class path_index {
public:
    // Adds a route, in the order of declaration. The match's host is ignored.
    void add(const route_match& match, std::size_t index);

    // Returns the index of the route, or nothing if none of these matches. The subject's host and
    // scheme are ignored.
    std::optional<std::size_t> find(const routing_subject& subject) const;

private:
    path_table as_written_;
    path_table folded_;
};

}  // namespace gateway::policy
