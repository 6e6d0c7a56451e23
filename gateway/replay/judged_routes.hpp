// `judged_routes` says which limits a log tells enough to judge, and has each route with these
// limits only. A request is judged by them alone.
#pragma once

#include "gateway/replay/logs/wanted_parts.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::replay {

// Limits of a route, the bit i for the limit i of policy::route::limits.
using limits_of_route = std::uint32_t;

struct judged_route {
    // The route, with the limits that can be judged.
    policy::route route;
    // Its other limits, as indices of policy::limits.
    std::vector<std::size_t> unjudged;
    limits_of_route judged = 0;
};

class judged_routes {
public:
    // Ownership: both arguments outlive this object.
    judged_routes(const policy::policy& p, const wanted_parts& wanted);

    // True if `known` is all that the limit needs.
    bool can_judge(std::size_t limit, part_set known) const { return needs_[limit].met_by(known); }

    // Returns the route of policy::routes with this index, of which these limits can be judged.
    // Valid as long as this object.
    const judged_route& of(std::size_t route, limits_of_route judged);

    // Returns what a limit needs, and a log does not tell, beside the cost: in words for people.
    std::string missing(std::size_t limit, part_set known) const;

private:
    // `needs` is what a limit needs to be judged.
    struct needs {
        part_set all = knows_cost;
        // True if it needs a part past the bound on wanted parts.
        bool too_much = false;

        bool met_by(part_set known) const { return !too_much && (all & ~known) == 0; }
    };

    const policy::policy& policy_;
    const wanted_parts& wanted_;
    std::vector<needs> needs_;
    // [i] has the routes made so far of policy::routes[i].
    std::vector<std::vector<std::unique_ptr<judged_route>>> made_;

    void need(const policy::key_part& part, needs& n) const;
    needs needs_of(const policy::limit_rule& rule) const;
};

}  // namespace gateway::replay
