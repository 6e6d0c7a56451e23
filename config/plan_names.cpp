#include "config/plan_names.hpp"

#include "gateway/base/suggest.hpp"

#include <algorithm>

namespace gateway::config {

std::vector<std::string> complaints_of_unnamed_plans(
    const policy::policy& policy, std::size_t section
)
{
    std::vector<std::string_view> known;
    for (const policy::limit_rule& limit : policy.limits) {
        if (limit.plan.plans != section) {
            continue;
        }
        for (const policy::plan_rule& rule : limit.plan.rules) {
            if (std::find(known.begin(), known.end(), rule.name) == known.end()) {
                known.emplace_back(rule.name);
            }
        }
    }
    std::vector<std::string> complaints;
    if (known.empty()) {
        return complaints;
    }
    const policy::plan_section& plans = policy.plans[section];
    for (const std::string& name : plans.members->names()) {
        if (name != plans.standard && std::find(known.begin(), known.end(), name) == known.end()) {
            complaints.push_back(
                "no limit names the plan \"" + name +
                "\", so its members have each limit's own numbers" + base::suggestion(name, known)
            );
        }
    }
    return complaints;
}

}  // namespace gateway::config
