#include "gateway/policy/content_paths.hpp"

namespace gateway::policy {

namespace {

void add_part(key_part& part, std::vector<read_path>& to)
{
    if (part.from == key_part::source::json) {
        to.push_back({part.name, part.path});
    }
}

}  // namespace

std::vector<read_path> request_paths_of(limit_rule& rule, std::vector<plan_section>& plans)
{
    std::vector<read_path> paths;
    for (key_part& part : rule.key) {
        add_part(part, paths);
    }
    if (rule.plan.plans != no_plans) {
        add_part(plans[rule.plan.plans].key, paths);
    }
    for (content_cost& part : rule.cost.parts) {
        if (!part.path.empty()) {
            paths.push_back({part.path, part.index});
        }
    }
    return paths;
}

std::vector<read_path> response_paths_of(limit_rule& rule)
{
    std::vector<read_path> paths;
    for (stated_usage& u : rule.outcome.usage) {
        u.indices.resize(u.paths.size());
        for (std::size_t i = 0; i < u.paths.size(); ++i) {
            paths.push_back({u.paths[i], u.indices[i]});
        }
    }
    return paths;
}

std::vector<read_path> request_paths_of(key_part& part)
{
    std::vector<read_path> paths;
    add_part(part, paths);
    return paths;
}

std::vector<read_path> request_paths_of(route_match& match)
{
    std::vector<read_path> paths;
    for (json_match& m : match.json) {
        paths.push_back({m.path, m.index});
    }
    return paths;
}

}  // namespace gateway::policy
