#include "gateway/admin/admin_limits.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/intake/readable_key.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace gateway::admin {

std::string_view store_name(const policy::policy& p, const policy::limit_rule& rule)
{
    return rule.store == policy::local_store ? std::string_view{"local"} : p.stores[rule.store];
}

const policy::limit_rule* rule_of(const policy::policy& p, std::string_view bucket_name)
{
    const std::string_view limit = identity::limit_of(bucket_name);
    const auto rule = std::find_if(p.limits.begin(), p.limits.end(), [limit](const auto& r) {
        return r.name == limit;
    });
    return rule == p.limits.end() ? nullptr : &*rule;
}

void describe_bucket(const policy::policy& p, const shown_bucket& b, boost::json::object& into)
{
    if (b.is_digest) {
        into["bucket"] = std::get<std::string_view>(identity::parts_of(b.name).back());
        return;
    }
    into["bucket"] = base::sha256_hex128(b.name);
    const policy::limit_rule* const rule = b.shows_key ? rule_of(p, b.name) : nullptr;
    if (rule != nullptr) {
        into["key"] = intake::readable_key(p, *rule, b.name);
    }
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

boost::json::value describe_limits(const policy::policy& p, const telemetry::totals& counted)
{
    boost::json::array limits;
    for (const policy::limit_rule& rule : p.limits) {
        const auto found = counted.limits.find(rule.name);
        const auto counts =
            found == counted.limits.end() ? telemetry::limit_totals{} : found->second;
        boost::json::object described;
        for (std::size_t i = 0; i < counts.decisions.size(); ++i) {
            described[telemetry::outcome_names[i]] = counts.decisions[i];
        }
        boost::json::object one = describe(p, rule);
        one["decisions"] = std::move(described);
        limits.push_back(std::move(one));
    }
    return {{"limits", std::move(limits)}};
}

}  // namespace gateway::admin
