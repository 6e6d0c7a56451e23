#include "gateway/admin/admin_limits.hpp"

#include <boost/json.hpp>

namespace gateway::admin {

std::string_view store_name(const policy::policy& p, const policy::limit_rule& rule)
{
    return rule.store == policy::local_store ? std::string_view{"local"} : p.stores[rule.store];
}

boost::json::object describe(const policy::policy& p, const policy::limit_rule& rule)
{
    boost::json::array key;
    for (const policy::key_part& part : rule.key) {
        key.emplace_back(part.text);
    }
    boost::json::object described{
        {"limit", rule.name},
        {"algorithm", rule.algorithm},
        {"rate", rule.rate},
        {"capacity", rule.limit.burst()},
        {"key", std::move(key)},
        {"store", store_name(p, rule)},
        {"mode", rule.mode == policy::mode::shadow ? "shadow" : "enforce"},
    };
    if (rule.shards > 1) {
        described["shards"] = rule.shards;
    }
    if (rule.fields.hidden) {
        described["headers"] = false;
    } else if (!rule.fields.word.empty()) {
        described["headers"] = rule.fields.word;
    }
    if (rule.soft > 0) {
        described["soft"] = rule.soft;
    }
    return described;
}

void describe_numbers(
    const policy::limit_rule& rule,
    const limit::limit& applied,
    std::optional<std::int64_t> tokens,
    boost::json::object& into
)
{
    for (const policy::plan_rule& p : rule.plan.rules) {
        if (&p.limit == &applied) {
            into["rate"] = p.rate;
        }
    }
    if (tokens) {
        into["rate"] = std::to_string(*tokens) + rule.rate.substr(rule.rate.find('/'));
    }
    into["capacity"] = applied.burst();
}

boost::json::value describe_limits(
    const policy::policy& p, const std::function<decision_counts(std::string_view limit)>& decisions
)
{
    boost::json::array limits;
    for (const policy::limit_rule& rule : p.limits) {
        const decision_counts counts = decisions(rule.name);
        boost::json::object described;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            described[telemetry::outcome_names[i]] = counts[i];
        }
        boost::json::object one = describe(p, rule);
        one["decisions"] = std::move(described);
        limits.push_back(std::move(one));
    }
    return {{"limits", std::move(limits)}};
}

}  // namespace gateway::admin
