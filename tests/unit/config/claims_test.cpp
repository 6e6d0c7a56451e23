// Limits whose numbers tokens state.
#include "config/print.hpp"
#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gateway::config {
namespace claims_test {

using testing::ElementsAre;
using testing::HasSubstr;

sample with(const std::string& limit, const std::string& more = {})
{
    sample s;
    s.rest = "jwt: { keys: \"" SOURCE_DIR "/tests/unit/config/jwks.json\" }\n" + more;
    s.limits = "limits:\n  a: { key: client_ip, " + limit + " }\n";
    return s;
}

TEST(claims, state_the_rate)
{
    const settings s = with("rate: { claim: rpm, per: 1m, default: 100, max: 1000 }").load();
    const policy::limit_rule& rule = s.policy->limits.at(0);
    EXPECT_EQ(rule.limit, *limit::limit::make(100, std::chrono::minutes{1}, 100));
    EXPECT_EQ(rule.rate, "100/m");
    EXPECT_EQ(
        rule.claimed,
        (policy::claimed_numbers{
            .tokens = {.claim = "rpm", .standard = 100, .max = 1000},
            .period = std::chrono::minutes{1}})
    );
    EXPECT_THAT(s.policy->token->good.claims, ElementsAre("rpm"));
    EXPECT_TRUE(s.policy->routes.at(0).reads_token);
    EXPECT_EQ(s.policy->routes.at(0).limits_without_token, 0U);
}

TEST(claims, state_the_burst)
{
    const settings s = with("rate: 10/s, burst: { claim: a.b, default: 5, max: 50 }").load();
    const policy::limit_rule& rule = s.policy->limits.at(0);
    EXPECT_EQ(rule.limit.burst(), 5);
    EXPECT_EQ(
        rule.claimed,
        (policy::claimed_numbers{
            .tokens = {.standard = 10},
            .period = std::chrono::seconds{1},
            .burst = {.claim = "a.b", .standard = 5, .max = 50}})
    );
    const settings fixed = with("rate: { claim: r, per: 1s, default: 1, max: 9 }, burst: 3").load();
    EXPECT_EQ(fixed.policy->limits.at(0).claimed.burst, (policy::claimed_number{.standard = 3}));
}

TEST(claims, are_not_for_every_limit)
{
    const std::string rate = "rate: { claim: r, per: 1m, default: 1, max: 9 }";
    const auto complaint = [](const std::string& limit, const std::string& more = {}) {
        return problems_of(with(limit, more).text());
    };
    EXPECT_EQ(complaint(rate), "");
    EXPECT_THAT(
        complaint("algorithm: sliding_window, " + rate), HasSubstr("only \"algorithm: token_bucket")
    );
    EXPECT_THAT(complaint(rate + ", shards: 2"), HasSubstr("limits.a.shards: not with a claim"));
    const std::string store = "stores: { s: { url: \"redis://h\" } }\n";
    EXPECT_THAT(
        complaint(rate + ", store: s, lease: { share: 10% }", store),
        HasSubstr("limits.a.lease: not with a claim")
    );
    EXPECT_THAT(
        complaint(rate + ", store: s, on_store_failure: local, local_share: 1/1", store),
        HasSubstr("limits.a.local_share: not with a claim")
    );
    EXPECT_THAT(
        complaint("rate: { claim: r, per: 1ms, default: 1, max: 1001 }, store: s", store),
        HasSubstr("limits.a.rate: too fast for a shared store")
    );
    sample without = with(rate);
    without.rest = {};
    EXPECT_THAT(problems_of(without.text()), HasSubstr("limits.a.rate: a claim of a token, and"));
}

}  // namespace claims_test
}  // namespace gateway::config
