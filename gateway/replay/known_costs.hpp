// `known_costs` has the limits of a policy charge what a log tells of the tokens that requests
// cost, where the log does not tell what these costs follow from.
// Thread: one thread only.
#pragma once

#include "gateway/policy/policy.hpp"
#include "gateway/replay/logs/logged_request.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::replay {

// Returns the tokens that the request cost under the limit; nothing: the log does not tell. The
// cost of a line is that of the limit that decided. Pure.
std::optional<std::int64_t> logged_cost(std::string_view limit, const logged_request& r);

class known_costs {
public:
    // Has the limits of `p` settle by a field of the response that bears their name.
    // Ownership: `p` outlives this object.
    known_costs(policy::policy& p, const wanted_parts& wanted);

    // Returns the facts that the log tells for the limit: `knows_cost` is among them if it tells
    // all that the cost depends on.
    part_set known_for(std::size_t limit, const logged_request& r) const;

    // Has the limit charge the request by what the log tells of it.
    // Requires: `knows_cost` is among known_for().
    void apply(std::size_t limit, const logged_request& r);

    // Returns what the cost under the limit depends on, in words for people.
    const std::string& missing(std::size_t limit) const { return own_[limit].needs; }

private:
    // `own_cost` is how the policy itself finds the cost under a limit.
    struct own_cost {
        policy::cost_rule::source from = policy::cost_rule::source::fixed;
        std::int64_t standard = 1;
        // True if requests cost different numbers of tokens.
        bool varies = false;
        bool settles = false;
        // The parts that the cost of a request follows from, if `follows`.
        part_set parts = 0;
        bool follows = true;
        // The fact that the log has to tell, in words for people.
        std::string needs{};

        bool follows_from(part_set known) const { return follows && (parts & ~known) == 0; }
    };

    policy::policy& policy_;
    std::vector<own_cost> own_;
};

}  // namespace gateway::replay
