// Key `lease` of a limit: the time of a permit, or the tokens that a worker takes ahead.
#include "config/limits/limit_sections.hpp"
#include "config/text/units.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using namespace std::chrono_literals;
using limit::token_lease;

constexpr base::duration longest_of_places = 1h;

constexpr std::string_view lease_schema = R"({"if":{"type":"object"},
    "then":{"additionalProperties":false,"required":["share"],"properties":{
    "share":{"description":"part of the burst that is taken ahead","type":"string","pattern":"^[1-9][0-9]?%$"},
    "time":{"description":"how long these tokens may be used, 1s by default","type":["string"],"pattern":"^(0|[1-9][0-9]*)(ms|s|m|h|d)$"}}},
    "else":{"type":["string"],"pattern":"^(0|[1-9][0-9]*)(ms|s|m|h|d)$"}})";

// Takes "10%", unless that is more than a lease may have.
std::string take_share(std::string_view text, int& percent)
{
    const auto number =
        text.ends_with('%') ? parse_number(text.substr(0, text.size() - 1)) : std::nullopt;
    if (!number || *number < 1 || *number > token_lease::most_percent) {
        return "expected a part of the burst from 1% to 50%";
    }
    percent = static_cast<int>(*number);
    return {};
}

void read_tokens(section& limit, token_lease& lease)
{
    section from = limit.inside("lease");
    if (from.require("share") != nullptr) {
        from.take_text("share", [&](const auto& text) { return take_share(text, lease.percent); });
    }
    lease.time =
        from.time("time", token_lease::shortest, token_lease::longest).value_or(lease.time);
    from.refuse_the_rest();
}

void read_lease(section& limit, limit_draft& l)
{
    switch (l.written.algorithm) {
        case algorithm::concurrency:
            l.written.lease = limit.time("lease", limit::limit::shortest_lease, longest_of_places)
                                  .value_or(l.written.lease);
            break;
        case algorithm::token_bucket:
            read_tokens(limit, l.rule.lease);
            break;
        default:
            limit.problem("lease", "only for \"algorithm: token_bucket\" or \"concurrency\"");
    }
}

std::string print_lease(const limit_draft& l)
{
    const token_lease& lease = l.rule.lease;
    if (counts_requests(l)) {
        return l.rule.store == policy::local_store ? "" : format_duration(l.written.lease);
    }
    return lease.any() ? "{ share: " + std::to_string(lease.percent) +
                             "%, time: " + format_duration(lease.time) + " }"
                       : "";
}

// Returns the most tokens that a lease can have.
std::int64_t most(const policy::limit_rule& rule)
{
    const auto parts = rule.limit.parts();
    const limit::limit& one = parts.empty() ? rule.limit : parts.front();
    const base::duration token = one.refill() / one.burst();
    return std::min(one.burst() * rule.lease.percent / 100, rule.lease.time / token);
}

}  // namespace

void describe_lease(keys& k, limit_draft& l)
{
    k("lease",
      "with a `token_bucket` in a shared store, the tokens that a worker takes ahead from a "
      "busy bucket: at most `share` of its burst, for `time` (100ms to 10s, by default 1s) "
      "(below). With `concurrency` in a shared store, the time after which requests of a "
      "gateway that died count no longer")
        .other(
            {.documented =
                 {"none; `10s` of `concurrency`",
                  "`{ share: 10%, time: 1s }`, 1% to 50%; 1s to 1h"},
             .schema = std::string{lease_schema},
             .read = [&](section& from) { read_lease(from, l); },
             .print = [&] { return print_lease(l); }}
        );
}

void check_lease(section& from, const limit_draft& l)
{
    const bool written = from.has("lease") && (counts_requests(l) || l.rule.lease.any());
    if (written && l.rule.store == policy::local_store) {
        from.problem("lease", "has no effect without a shared \"store\"");
    }
    if (!l.rule.lease.any()) {
        return;
    }
    if (l.rule.max_wait > base::duration{0}) {
        from.problem("lease", "not with \"max_wait\": the order of those who wait is the store's");
    }
    if (l.rule.penalty.any()) {
        from.problem("lease", "not with \"penalty\": a ban would not hold for what is taken ahead");
    }
    if (!l.rule.outcome.reset_on.empty()) {
        from.problem(
            "lease", "not with \"reset_on\": what is taken ahead would come on top of a full bucket"
        );
    }
    if (l.has_rate && most(l.rule) < token_lease::least) {
        from.warning(
            "lease",
            "has no effect: its share of the burst, and what comes back in its time, must each "
            "be " +
                std::to_string(token_lease::least) + " tokens at least"
        );
    }
}

}  // namespace gateway::config
