// Key `shards` of a limit: buckets that are split in parts.
#include "config/limits/limit_sections.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

bool can_be_split(algorithm a)
{
    return a == algorithm::token_bucket || a == algorithm::fixed_window ||
           a == algorithm::sliding_window;
}

// Returns the most that a request can cost.
std::int64_t highest(const policy::cost_rule& cost)
{
    std::int64_t most = std::max(cost.standard, cost.max);
    for (const auto& [method, tokens] : cost.methods) {
        most = std::max(most, tokens);
    }
    return most;
}

// True if a part could hold more windows than a call to a shared store encodes.
bool holds_too_many_windows(const limit_draft& l)
{
    const std::int64_t n = l.rule.shards;
    return in_windows(l) && (l.written.rate.monthly || l.written.start != "aligned") &&
           (l.burst + n - 1) / n > most_windows_held * (l.written.rate.tokens / n);
}

void check_company(section& from, const limit_draft& l)
{
    if (!can_be_split(l.written.algorithm)) {
        from.problem(
            "shards", "only for \"algorithm: token_bucket\", \"fixed_window\" or \"sliding_window\""
        );
    }
    if (l.rule.max_wait > base::duration{0}) {
        from.problem("shards", "not with \"max_wait\": requests would wait in several queues");
    }
    if (l.rule.penalty.any()) {
        from.problem("shards", "not with \"penalty\": a ban would hold for one part of the bucket");
    }
    if (in_windows(l) && l.written.start.empty()) {
        from.problem(
            "shards",
            "needs a \"start\", such as \"aligned\": without one the windows of each part begin at "
            "moments of their own"
        );
    }
}

}  // namespace

void split_in_shards(section& from, limit_draft& l)
{
    const std::int64_t n = l.rule.shards;
    const bool is_made = l.has_rate && l.rule.limit.burst() == l.burst;  // false: it was refused
    if (n == 1 || !is_made || !can_be_split(l.written.algorithm)) {
        return;
    }
    const std::string_view size = size_key(l.written.algorithm);
    const std::string_view key = !l.of_plan ? "shards" : from.has(size) ? size : "rate";
    const std::string parts = std::to_string(n) + " shards";
    const auto split = l.rule.limit.split(n);
    if (!split) {
        from.problem(key, "too few tokens for " + parts + ", each of which has one at least");
        return;
    }
    l.rule.limit = *split;
    if (holds_too_many_windows(l)) {
        from.problem(
            key,
            "each of " + parts + " would hold more than " + std::to_string(most_windows_held) +
                " times its share of the count in \"rate\""
        );
    }
    const std::int64_t least = split->parts().back().burst();
    const std::int64_t cost = highest(l.rule.cost);
    if (cost > least) {
        from.problem(
            key,
            "each of " + parts + " holds " + std::to_string(least) +
                " tokens, and a request may cost " + std::to_string(cost) +
                ": no part could ever let it pass"
        );
    }
}

void describe_shards(keys& k, limit_draft& l)
{
    k("shards",
      "the number of parts into which each bucket is split, for buckets that very many requests "
      "share. A request takes from the fuller of two random parts (below)")
        .number(l.rule.shards, {1, limit::limit::most_parts});
    k.rule([&](section& from) {
        if (l.rule.shards > 1) {
            check_company(from, l);
            split_in_shards(from, l);
        }
    });
}

}  // namespace gateway::config
