// `judged_routes` says which limits of a route a log tells enough to judge, and has the route with
// these limits only. A request is judged by them alone.
#pragma once

#include "gateway/replay/logs/wanted_parts.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::replay {

struct judged_route {
    // The route, with the limits that can be judged.
    policy::route route;
    // Its other limits, as indices of policy::limits.
    std::vector<std::size_t> unjudged;
    // The facts that this depends on.
    part_set known = 0;
};

class judged_routes {
public:
    // Ownership: both arguments outlive this object.
    judged_routes(const policy::policy& p, const wanted_parts& wanted);

    // Returns the route of policy::routes with this index, for a request of which the log tells
    // `known`. Valid as long as this object.
    const judged_route& of(std::size_t route, part_set known);

    // Returns what a limit needs and a log does not tell, in words for people.
    std::string missing(std::size_t limit, part_set known) const;

private:
    // `needs` is what a limit needs to be judged: all of one set, and any of the other unless that
    // is empty.
    struct needs {
        part_set all = 0;
        part_set any = 0;
        // True if it needs a part past the bound on wanted parts.
        bool too_much = false;

        bool met_by(part_set known) const
        {
            return !too_much && (all & ~known) == 0 && (any == 0 || (any & known) != 0);
        }
    };

    const policy::policy& policy_;
    const wanted_parts& wanted_;
    std::vector<needs> needs_;
    // [i] has all facts on which judging policy::routes[i] depends, and the routes made so far.
    std::vector<part_set> relevant_;
    std::vector<std::vector<std::unique_ptr<judged_route>>> made_;

    void need(const policy::key_part& part, needs& n) const;
    needs needs_of(const policy::limit_rule& rule) const;
};

}  // namespace gateway::replay
