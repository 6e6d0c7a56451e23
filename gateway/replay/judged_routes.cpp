#include "gateway/replay/judged_routes.hpp"

#include "gateway/replay/word_list.hpp"

#include <utility>

namespace gateway::replay {

namespace {

bool needs_token(const policy::policy& p, const policy::limit_rule& rule)
{
    for (const policy::key_part& part : rule.key) {
        if (part.from == source::jwt) {
            return true;
        }
    }
    const std::size_t plans = rule.plan.plans;
    return rule.claimed.any() ||
           (plans != policy::no_plans && p.plans[plans].key.from == source::jwt);
}

}  // namespace

judged_routes::judged_routes(const policy::policy& p, const wanted_parts& wanted)
    : policy_(p), wanted_(wanted), made_(p.routes.size())
{
    for (const policy::limit_rule& rule : p.limits) {
        needs_.push_back(needs_of(rule));
    }
}

void judged_routes::need(const policy::key_part& part, needs& n) const
{
    n.all |= wanted_.set_of(part);
    n.too_much = n.too_much || wanted_.is_past_bound(part);
}

judged_routes::needs judged_routes::needs_of(const policy::limit_rule& rule) const
{
    needs n;
    for (const policy::key_part& part : rule.key) {
        need(part, n);
    }
    if (rule.plan.plans != policy::no_plans) {
        need(policy_.plans[rule.plan.plans].key, n);
    }
    for (std::string& claim : rule.claimed.claims()) {
        need({.from = source::jwt, .name = std::move(claim)}, n);
    }
    n.all |= rule.limit.counts_in_flight() ? knows_duration : 0;
    return n;
}

const judged_route& judged_routes::of(std::size_t route, limits_of_route judged)
{
    for (const auto& made : made_[route]) {
        if (made->judged == judged) {
            return *made;
        }
    }
    auto made = std::make_unique<judged_route>();
    made->route = policy_.routes[route];
    made->judged = judged;
    policy::route& r = made->route;
    std::vector<std::size_t> all;
    std::swap(all, r.limits);
    r.limits_without_token = 0;
    r.reads_token = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if ((judged >> i & 1) == 0) {
            made->unjudged.push_back(all[i]);
            continue;
        }
        const bool reads_token = needs_token(policy_, policy_.limits[all[i]]);
        r.reads_token = r.reads_token || reads_token;
        r.limits_without_token += reads_token ? 0 : 1;
        r.limits.push_back(all[i]);
    }
    made_[route].push_back(std::move(made));
    return *made_[route].back();
}

std::string judged_routes::missing(std::size_t limit, part_set known) const
{
    const needs& n = needs_[limit];
    std::string text = wanted_.names_of(n.all & ~known);
    if ((n.all & knows_duration & ~known) != 0) {
        add_word(text, "how long requests took");
    }
    if (n.too_much) {
        add_word(text, "a part past the " + std::to_string(wanted_parts::most) + "th");
    }
    return text;
}

}  // namespace gateway::replay
