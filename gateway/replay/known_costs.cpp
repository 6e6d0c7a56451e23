#include "gateway/replay/known_costs.hpp"

#include "gateway/replay/word_list.hpp"

#include <charconv>
#include <utility>

namespace gateway::replay {

namespace {

using cost_source = policy::cost_rule::source;

// Finds the limit in `{"a":1,"b":2}` or `a=1,b=2`.
std::optional<std::int64_t> cost_among(std::string_view costs, std::string_view limit)
{
    // A name of a limit needs no escaping, and none is the end of another one behind a quote.
    for (std::size_t at = costs.find(limit); at != costs.npos; at = costs.find(limit, at + 1)) {
        std::string_view rest = costs.substr(at + limit.size());
        const bool begins = at == 0 || costs[at - 1] == '"' || costs[at - 1] == ',';
        const bool quoted = rest.starts_with("\":");
        if (!begins || (!quoted && !rest.starts_with('='))) {
            continue;
        }
        rest.remove_prefix(quoted ? 2 : 1);
        std::int64_t cost = 0;
        const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), cost);
        return read.ec == std::errc{} ? std::optional{cost} : std::nullopt;
    }
    return std::nullopt;
}

// Returns the names of the parts, in words for people.
std::string names_of(const std::vector<policy::key_part>& parts)
{
    std::string names;
    for (const policy::key_part& part : parts) {
        add_word(names, text_of(part));
    }
    return names;
}

}  // namespace

std::optional<std::int64_t> logged_cost(std::string_view limit, const logged_request& r)
{
    if ((r.known & knows_cost) == 0) {
        return std::nullopt;
    }
    if (!r.costs.empty()) {
        return cost_among(r.costs, limit);
    }
    return r.limit.empty() || r.limit == limit ? std::optional{r.cost} : std::nullopt;
}

known_costs::known_costs(policy::policy& p, const wanted_parts& wanted) : policy_(p)
{
    for (policy::limit_rule& rule : p.limits) {
        const auto parts = stating_parts(rule.cost);
        own_cost own{.from = rule.cost.from, .standard = rule.cost.standard};
        own.varies = rule.cost_varies();
        own.settles = rule.outcome.settles();
        own.follows = !rule.cost.counts_bytes();
        for (const policy::key_part& part : parts) {
            own.parts |= wanted.set_of(part);
            own.follows = own.follows && !wanted.is_past_bound(part);
        }
        own.needs = own.settles   ? "the settled cost"
                    : own.follows ? "the cost (" + names_of(parts) + ")"
                                  : "the cost (by content)";
        if (own.settles) {
            rule.outcome.settle_header = rule.name;
            rule.outcome.usage.clear();
            rule.outcome.bytes_per_token = 0;
        }
        own_.push_back(std::move(own));
    }
}

part_set known_costs::known_for(std::size_t limit, const logged_request& r) const
{
    const own_cost& own = own_[limit];
    const bool is_known = !own.varies || (!own.settles && own.follows_from(r.known)) ||
                          logged_cost(policy_.limits[limit].name, r);
    return is_known ? r.known | knows_cost : r.known & ~knows_cost;
}

// A client that leaves gets no response that could settle its cost later, but what its request had
// cost by then is known.
void known_costs::apply(std::size_t limit, const logged_request& r)
{
    const own_cost& own = own_[limit];
    if (!own.varies) {
        return;
    }
    policy::limit_rule& rule = policy_.limits[limit];
    const bool is_final = own.settles && r.status == client_left;
    const auto logged = is_final || !own.follows_from(r.known) ? logged_cost(rule.name, r)
                                                               : std::optional<std::int64_t>{};
    rule.cost.from = logged ? cost_source::fixed : own.from;
    rule.cost.standard = logged.value_or(own.standard);
}

}  // namespace gateway::replay
