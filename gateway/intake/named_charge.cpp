#include "gateway/intake/named_charge.hpp"

#include "gateway/base/text.hpp"

namespace gateway::intake {

void named_charges::note_plan(std::string_view name)
{
    bool known = name.empty();
    if (!plans.empty()) {
        base::for_each_element(plans, ',', [&known, name](std::string_view one) {
            known = known || one == name;
        });
    }
    if (!known) {
        plans.append(plans.empty() ? "" : ",").append(name);
    }
}

}  // namespace gateway::intake
