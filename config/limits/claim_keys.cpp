// Numbers of a limit that the token of a request states: `rate` and `burst` as mappings.
#include "config/limits/limit_sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using policy::claimed_number;

constexpr std::size_t longest_claim_name = 1024;
constexpr base::duration shortest_period = std::chrono::milliseconds{1};

// Reads the keys that both mappings have.
void read_claim(section& from, claimed_number& number)
{
    from.take_text("claim", [&number](const std::string& name) {
        number.claim = name;
        return name.empty() || !is_visible(name, longest_claim_name)
                   ? "expected the name of a claim, such as rpm"
                   : "";
    });
    for (const std::string_view key : {"claim", "default", "max"}) {
        from.require(key);
    }
    number.claim = number.claim.empty() ? "missing" : number.claim;
    from.take_number("default", number.standard, {1, most_tokens});
    number.max = std::max(number.max, number.standard);
    if (from.take_number("max", number.max, {1, most_tokens}) && number.standard > number.max) {
        from.problem("default", "more than \"max\"");
    }
}

std::string print_claim(const claimed_number& number, const std::string& per)
{
    return "{ claim: " + yaml(number.claim) + per +
           ", default: " + std::to_string(number.standard) +
           ", max: " + std::to_string(number.max) + " }";
}

// Checks that every pair of numbers is a limit that can exist. If the extreme ones do, all do.
void check_extremes(section& from, const policy::claimed_numbers& c)
{
    const std::int64_t most = c.tokens.any() ? c.tokens.max : c.tokens.standard;
    const std::int64_t least = c.tokens.any() ? 1 : c.tokens.standard;
    const std::int64_t fullest = c.burst.any() ? c.burst.max : c.burst.standard;
    if (most > c.period.count()) {
        from.problem("rate", "too fast, the maximum is one token per nanosecond");
    } else if (!c.limit_of(least, fullest) || !c.limit_of(most, fullest)) {
        from.problem(
            c.burst.any() ? "burst" : "rate",
            "a refill of " + std::to_string(fullest == 0 ? most : fullest) + " tokens at " +
                std::to_string(least) +
                " in each \"per\" would take too long, the maximum is 100 "
                "years"
        );
    }
}

}  // namespace

void read_claimed_rate(section& limit, limit_draft& l)
{
    section from = limit.inside("rate");
    policy::claimed_numbers& c = l.rule.claimed;
    read_claim(from, c.tokens);
    from.require("per");
    const auto per = from.time("per", shortest_period, limit::limit::max_refill);
    from.refuse_the_rest();
    c.period = per.value_or(std::chrono::minutes{1});
    l.written.rate = {.tokens = c.tokens.standard, .period = c.period};
    l.burst = c.tokens.standard;
    l.has_rate = per.has_value();
}

void read_claimed_burst(section& limit, limit_draft& l)
{
    section from = limit.inside("burst");
    read_claim(from, l.rule.claimed.burst);
    from.refuse_the_rest();
    l.burst = l.rule.claimed.burst.standard;
}

std::string print_claimed_rate(const policy::claimed_numbers& c)
{
    return print_claim(c.tokens, ", per: " + format_duration(c.period));
}

std::string print_claimed_burst(const policy::claimed_numbers& c)
{
    return c.burst.any()           ? print_claim(c.burst, {})
           : c.burst.standard == 0 ? std::string{}
                                   : std::to_string(c.burst.standard);
}

void check_claims(section& from, limit_draft& l, const draft& d)
{
    policy::claimed_numbers& c = l.rule.claimed;
    if (!c.any()) {
        return;
    }
    const char* const key = c.tokens.any() ? "rate" : "burst";
    if (!d.policy.token) {
        from.problem(key, "a claim of a token, and there is no \"jwt\" that says which are good");
    }
    if (l.written.algorithm != algorithm::token_bucket) {
        from.problem(
            key,
            "a claim, which only \"algorithm: token_bucket\" can follow; plans may have other "
            "numbers for other algorithms"
        );
        return;
    }
    if (!c.tokens.any()) {
        c.tokens.standard = l.written.rate.tokens;
        c.period = l.written.rate.period;
    }
    if (!c.burst.any()) {
        c.burst.standard = from.has("burst") ? l.burst : 0;
    }
    if (l.rule.shards > 1) {
        from.problem("shards", "not with a claim: few tokens could not be split");
    }
    if (l.rule.lease.any()) {
        from.problem("lease", "not with a claim: what is taken ahead would be of other numbers");
    }
    if (l.rule.local_share.any()) {
        from.problem("local_share", "not with a claim: few tokens could not be shared out");
    }
    if (l.has_rate) {
        check_extremes(from, c);
    }
}

}  // namespace gateway::config
