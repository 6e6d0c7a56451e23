// Key `local_share` of a limit: what one gateway of several gives while their store fails.
#include "config/limits/limit_sections.hpp"
#include "config/text/units.hpp"

namespace gateway::config {
namespace {

constexpr std::int64_t most_gateways = 1000;

// Takes "1/3", unless that is more than all, or has too great a denominator.
std::string take_share(std::string_view text, policy::fraction& share)
{
    const std::size_t slash = text.find('/');
    const auto of = parse_number(text.substr(0, slash));
    const auto all =
        slash == std::string_view::npos ? std::nullopt : parse_number(text.substr(slash + 1));
    if (!of || !all || *of < 1 || *of > *all || *all > most_gateways) {
        return "expected a part of the limit such as 1/3, up to 1/1000";
    }
    share = {static_cast<std::int64_t>(*of), static_cast<std::int64_t>(*all)};
    return {};
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

void check_share(section& from, limit_draft& l)
{
    if (!l.rule.local_share.any()) {
        return;
    }
    check_use(from, l);
    if ((l.has_rate || counts_requests(l)) && l.rule.shards == 1) {
        share_out_all(from, l.rule);
    }
}

}  // namespace

void describe_local_share(keys& k, limit_draft& l)
{
    policy::fraction& share = l.rule.local_share;
    const auto print = [&] {
        return share.any() ? std::to_string(share.of) + '/' + std::to_string(share.all) : "";
    };
    k("local_share",
      "the part of the limit that this gateway gives while the store fails, with "
      "`on_store_failure: local`. What it gives is charged to the store's buckets when the "
      "store is back (below)")
        .text(
            {.documented = {"none", "`1/3`, up to `1/1000`"},
             .schema = R"({"type":"string","pattern":"^[1-9][0-9]{0,3}/[1-9][0-9]{0,3}$"})",
             .take = [&](const std::string& text) { return take_share(text, share); },
             .print = print}
        );
    k.rule([&](section& from) { check_share(from, l); });
}

}  // namespace gateway::config
