#include "config/limits/local_share_keys.hpp"

#include "config/limits/limit_algorithm.hpp"
#include "config/text/units.hpp"

namespace gateway::config {
namespace {

constexpr std::int64_t most_gateways = 1000;

// Parses "1/3". Returns nothing if it is no fraction, more than all, or has too great a
// denominator.
std::optional<policy::fraction> parse_fraction(std::string_view text)
{
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return std::nullopt;
    }
    const auto of = parse_number(text.substr(0, slash));
    const auto all = parse_number(text.substr(slash + 1));
    if (!of || !all || *of < 1 || *of > *all || *all > most_gateways) {
        return std::nullopt;
    }
    return policy::fraction{static_cast<std::int64_t>(*of), static_cast<std::int64_t>(*all)};
}

void load_share(section& from, policy::limit_rule& rule)
{
    const std::string* const text = from.text("local_share");
    if (text == nullptr) {
        return;
    }
    if (const auto read = parse_fraction(*text)) {
        rule.local_share = *read;
    } else {
        from.problem("local_share", "expected a part of the limit such as 1/3, up to 1/1000");
    }
}

void check_use(section& from, const limit_draft& l)
{
    const bool decides_locally = l.rule.on_failure(policy::failure_policy::local);
    if (!decides_locally) {
        from.problem(
            "local_share",
            "has no effect without a shared \"store\" and \"on_store_failure: local\""
        );
    }
    if (l.rule.shards > 1) {
        from.problem("local_share", "not with \"shards\"");
    }
}

void share_out(section& from, const policy::fraction& share, limit::limit& whole)
{
    const auto made = whole.shared_out(share.of, share.all);
    if (made) {
        whole = *made;
    } else {
        from.problem(
            "local_share", "too few tokens: that part of the limit would be less than one"
        );
    }
}

// Adds this gateway's share to the limit, and to that of each plan. Their numbers stay.
void share_out_all(section& from, policy::limit_rule& rule)
{
    share_out(from, rule.local_share, rule.limit);
    for (policy::plan_rule& plan : rule.plan.rules) {
        if (plan.what == policy::plan_rule::kind::limited) {
            share_out(from, rule.local_share, plan.limit);
        }
    }
}

}  // namespace

void describe_local_share(keys& limit, limit_draft& l)
{
    limit.other(
        {"local_share",
         "with `on_store_failure: local`: the part of the limit that this gateway gives while the "
         "store fails; what it gives is charged to the store's buckets when that is back (below)"},
        {.says = {"none", "`1/3`, up to `1/1000`"},
         .schema = R"({"type":"string","pattern":"^[1-9][0-9]{0,3}/[1-9][0-9]{0,3}$"})",
         .read = [&](section& from) { load_share(from, l.rule); },
         .print = [&]() -> std::optional<std::string> {
             const auto [of, all] = l.rule.local_share;
             return all == 0 ? std::nullopt
                             : std::optional{std::to_string(of) + '/' + std::to_string(all)};
         },
         .optional = true}
    );
    limit.rule([&](section& from) {
        if (!l.rule.local_share.any()) {
            return;
        }
        check_use(from, l);
        if ((l.has_rate || counts_requests(l)) && l.rule.shards == 1) {
            share_out_all(from, l.rule);
        }
    });
}

}  // namespace gateway::config
