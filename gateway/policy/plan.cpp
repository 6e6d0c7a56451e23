#include "gateway/policy/plan.hpp"

#include <algorithm>

namespace gateway::policy {

void plan_choice::finish(const plan_table& members, std::string_view standard)
{
    const auto rule_named = [this](std::string_view name) {
        const auto rule = std::find_if(rules.begin(), rules.end(), [name](const plan_rule& r) {
            return r.name == name;
        });
        return static_cast<std::uint8_t>(rule == rules.end() ? 0 : rule - rules.begin() + 1);
    };
    rule_of.assign({rule_named(standard)});
    for (const std::string& name : members.names()) {
        rule_of.push_back(rule_named(name));
    }
}

}  // namespace gateway::policy
