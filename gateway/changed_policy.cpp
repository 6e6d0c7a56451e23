#include "gateway/changed_policy.hpp"

#include "config/plan_names.hpp"
#include "gateway/telemetry/log.hpp"

#include <memory>
#include <utility>

namespace gateway {

void adopt_plan_file(
    config::settings& in_force, const std::string& name, const config::plan_file& fresh
)
{
    auto changed = std::make_shared<policy::policy>(*in_force.policy);
    for (std::size_t i = 0; i < changed->plans.size(); ++i) {
        if (changed->plans[i].name == name) {
            changed->plans[i].members = fresh.members;
            in_force.written_plans[i].stamp = fresh.stamp;
        }
    }
    changed->finish();
    for (std::size_t i = 0; i < changed->plans.size(); ++i) {
        if (changed->plans[i].name != name) {
            continue;
        }
        for (const std::string& complaint : config::complaints_of_unnamed_plans(*changed, i)) {
            telemetry::log(
                telemetry::log_level::warning,
                std::string{"plans."}.append(name).append(": ") += complaint
            );
        }
    }
    in_force.policy = std::move(changed);
}

void adopt_token_keys(config::settings& in_force, std::vector<identity::token_key> keys)
{
    auto changed = std::make_shared<policy::policy>(*in_force.policy);
    changed->token->good.keys = std::move(keys);
    changed->finish();
    in_force.policy = std::move(changed);
}

}  // namespace gateway
