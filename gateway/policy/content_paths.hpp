// `read_paths` lists the members of JSON contents on which a policy depends.
#pragma once

#include "gateway/policy/limit_rule.hpp"
#include "gateway/policy/plan_section.hpp"
#include "gateway/policy/route.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gateway::policy {

// A path, and where its index belongs.
struct read_path {
    const std::string& path;
    std::size_t& index;
};

// Returns the paths in requests of a limit: those of its key, its plans' key and its cost.
std::vector<read_path> request_paths_of(limit_rule& rule, std::vector<plan_section>& plans);

// Returns the paths in responses by which the limit's charge is settled.
std::vector<read_path> response_paths_of(limit_rule& rule);

// Returns the path of a part, if it has one.
std::vector<read_path> request_paths_of(key_part& part);

// Returns the paths by which a route is chosen.
std::vector<read_path> request_paths_of(route_match& match);

}  // namespace gateway::policy
