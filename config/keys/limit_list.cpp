#include "config/keys/limit_list.hpp"

#include "gateway/policy/limit_rule.hpp"

#include <algorithm>

namespace gateway::config {

void load_limit_list(
    section& from, const std::vector<std::string>& names, std::vector<std::size_t>& out
)
{
    from.each_item("limits", policy::max_limits_per_route, {}, [&](const located& item) {
        const auto index = resolve(item, "limit", names, from.found());
        if (index && std::find(out.begin(), out.end(), *index) != out.end()) {
            from.found().problem(item, "this limit is listed already");
        } else if (index) {
            out.push_back(*index);
        }
    });
}

}  // namespace gateway::config
