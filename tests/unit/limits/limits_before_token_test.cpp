// Limits that need no token decide before the token is verified, and decide what they would have
// decided after that.
#include "gateway/http/input/request_parser.hpp"
#include "gateway/identity/token_keys.hpp"
#include "tests/unit/identity/issuer.hpp"
#include "tests/unit/limits/limit_check_fixture.hpp"

#include <random>

namespace gateway::limits {
namespace limits_before_token_test {

using policy::limit_rule;
using policy::missing_key;
using source = policy::key_part::source;
using telemetry::outcome;
using is = verdict::ruling;

const identity::issuer& issuer = identity::issuers()[0];

std::string line_with(const std::string& token)
{
    return "Authorization: Bearer " + token + "\r\n";
}

std::string token_of(const std::string& user)
{
    return line_with(issuer.token(R"({"sub":")" + user + R"("})"));
}

// Signed, and too late.
std::string expired_token()
{
    return line_with(issuer.token(R"({"sub":"alice","exp":1})"));
}

std::string forged_token(int number)
{
    return line_with(issuer.token(R"({"sub":")" + std::to_string(number) + R"("})") + "AAAA");
}

limit::limit per_hour(std::int64_t burst)
{
    return *limit::limit::make(burst, std::chrono::hours{1}, burst);
}

limit_rule by_address(const std::string& name, std::int64_t burst)
{
    return {.name = name, .key = {{}}, .limit = per_hour(burst)};
}

limit_rule by_user(const std::string& name, std::int64_t burst)
{
    return {
        .name = name,
        .key = {{.from = source::jwt, .name = "sub", .text = "jwt:sub"}},
        .limit = per_hour(burst)};
}

// A route with limits, and what they have charged.
class limited final : private verdict_listener {
public:
    std::shared_ptr<testing::fake_store> shared = std::make_shared<testing::fake_store>();

    explicit limited(std::vector<limit_rule> rules)
    {
        policy_->token.emplace().good.keys = identity::parse_token_keys(issuer.jwks()).keys;
        policy_->limits = std::move(rules);
        policy_->routes.emplace_back();
        for (std::size_t i = 0; i < policy_->limits.size(); ++i) {
            policy_->routes[0].limits.push_back(i);
        }
        policy_->finish();
        route_ = policy_->routes[0];
        view_.policy = policy_;
        view_.stores = {shared};
        for (std::size_t i = 0; i < policy_->limits.size(); ++i) {
            view_.limits.push_back(&metrics_[i]);
        }
    }

    // From now on keys are fetched, and none has been yet.
    void lose_keys()
    {
        policy_->token->fetch_timeout = std::chrono::seconds{1};
        policy_->token->good.keys.clear();
    }

    // How far the check of the last request came.
    request_check::state state() const { return state_; }

    // Whether a request may wait for keys, and how often it was asked for.
    bool may_await = false;
    int awaited = 0;

    // From now on the token comes first.
    void decide_late() { route_.limits_without_token = 0; }

    const verdict& ask(const std::string& lines, std::uint32_t client = 1)
    {
        view_.tokens = std::make_unique<intake::token_cache>(policy_->token->good);
        const std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n";
        http::request_head head;
        EXPECT_EQ(
            http::parse_request_head(bytes, {}, head).is, http::parse_result::state::complete
        );
        const auto address = base::ip_address::v4(client);
        intake::key_subject subject{
            .head = &head,
            .address = address,
            .client = address,
            .host = "h",
            .path = "/",
            .route = "r"};
        const request_check check = check_request(check_, view_, route_, subject, *this);
        state_ = check.is;
        said_ = check.verdict;
        return said_ != nullptr ? *said_ : nothing_yet_;
    }

    const verdict& said() const { return *said_; }

    // Whether a good token of the last request was verified.
    bool has_verified() const { return view_.tokens->size() > 0; }

    void pass_time(base::duration d) { clock_.set(clock_.now() + d); }

    std::uint64_t count(std::size_t rule, outcome o) const
    {
        return metrics_[rule].decisions[static_cast<std::size_t>(o)].value();
    }

private:
    std::shared_ptr<policy::policy> policy_ = std::make_shared<policy::policy>();
    policy_view view_;
    policy::route route_;
    std::array<telemetry::limit_metrics, policy::max_limits_per_route> metrics_;
    store::memory_store local_{{.max_buckets = 1024}};
    base::turn_clock clock_;
    top_buckets top_;
    bucket_parts parts_;
    limit_check check_{local_, clock_, top_, parts_};
    const verdict* said_ = nullptr;
    request_check::state state_{};
    const verdict nothing_yet_{};

    void decided(const verdict& v) override { said_ = &v; }

    bool awaits_keys() override
    {
        ++awaited;
        return may_await;
    }
};

TEST(limits_before_token, reject_whoever_it_is)
{
    limited route{{by_user("user", 9), by_address("address", 1)}};
    EXPECT_EQ(route.ask(token_of("alice")).is, is::allowed);
    EXPECT_TRUE(route.has_verified());
    for (const std::string& lines : {token_of("alice"), forged_token(1), std::string{}}) {
        const verdict& v = route.ask(lines);
        EXPECT_EQ(v.is, is::rejected);
        ASSERT_EQ(v.count, 1U);
        EXPECT_EQ(v.deciding()->rule->name, "address");
        EXPECT_EQ(v.retry_after(), std::chrono::hours{1});
        EXPECT_FALSE(route.has_verified());
    }
    EXPECT_EQ(route.count(1, outcome::rejected), 3U);
    EXPECT_EQ(route.count(0, outcome::rejected), 0U);
    EXPECT_EQ(route.ask(token_of("alice"), 2).limits()[1].decision.remaining, 7)
        << "what was rejected was charged to nobody";
}

TEST(limits_before_token, are_charged_for_no_request_that_lacks_its_key)
{
    limited route{{by_address("address", 2), by_user("user", 9)}};
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(route.ask(i % 2 == 0 ? expired_token() : std::string{}).is, is::unidentified);
        EXPECT_EQ(route.said().deciding()->rule->name, "user");
    }
    EXPECT_EQ(route.ask(token_of("alice")).limits()[0].decision.remaining, 1);
}

TEST(limits_before_token, are_charged_for_a_forged_one)
{
    limited route{{by_address("address", 2), by_user("user", 9)}};
    for (int i = 0; i < 2; ++i) {
        const verdict& v = route.ask(forged_token(i));
        EXPECT_EQ(v.is, is::unidentified);
        ASSERT_EQ(v.count, 1U);
        EXPECT_EQ(v.deciding()->rule->name, "user");
        EXPECT_EQ(v.fault.part->text, "jwt:sub");
    }
    EXPECT_EQ(route.ask(forged_token(3)).is, is::rejected);
    EXPECT_EQ(route.said().deciding()->rule->name, "address");
    EXPECT_EQ(route.count(0, outcome::allowed), 2U);
    EXPECT_EQ(route.count(1, outcome::allowed), 0U);
    EXPECT_EQ(route.ask(token_of("alice")).is, is::rejected);
}

TEST(limits_before_token, say_of_a_forged_one_what_is_wrong_with_it)
{
    limit_rule shadow = by_address("shadow", 9);
    shadow.key = {{.from = source::header, .name = "x-key", .text = "header:x-key"}};
    shadow.mode = policy::mode::shadow;
    limited route{{by_address("address", 2), shadow, by_user("user", 9)}};
    EXPECT_EQ(route.ask(forged_token(1)).is, is::unidentified);
    EXPECT_EQ(route.said().fault.part->text, "jwt:sub");
}

TEST(limits_before_token, in_a_store_are_charged_for_a_forged_one)
{
    limit_rule far = by_address("address", 1);
    far.store = 0;
    limited route{{far, by_user("user", 9)}};
    route.ask(forged_token(1));
    EXPECT_THAT(route.shared->asked, ::testing::ElementsAre("address"));
    route.shared->answer({true}, true);
    EXPECT_EQ(route.said().is, is::unidentified);
    route.ask(forged_token(2));
    route.shared->answer({false}, false);
    EXPECT_EQ(route.said().is, is::rejected);
}

TEST(limits_before_token, in_shadow_mode_reject_nobody)
{
    limit_rule shadow = by_address("address", 1);
    shadow.mode = policy::mode::shadow;
    limited route{{shadow, by_user("user", 2)}};
    EXPECT_EQ(route.ask(token_of("alice")).is, is::allowed);
    EXPECT_EQ(route.ask(token_of("alice")).is, is::allowed);
    EXPECT_EQ(route.count(0, outcome::shadow_rejected), 1U);
    EXPECT_EQ(route.ask(token_of("alice")).is, is::rejected);
    EXPECT_TRUE(route.has_verified());
}

TEST(limits_before_token, count_a_rejection_once_for_a_ban)
{
    limit_rule strict = by_address("address", 1);
    const auto hour = std::chrono::hours{1};
    strict.penalty = {.after = 3, .within = hour, .ban = 2 * hour, .max_ban = 2 * hour};
    limited route{{strict, by_user("user", 9)}};
    EXPECT_EQ(route.ask(token_of("alice")).is, is::allowed);
    EXPECT_FALSE(route.ask(token_of("alice")).banned());
    EXPECT_FALSE(route.ask(token_of("alice")).banned());
    EXPECT_TRUE(route.ask(token_of("alice")).banned());
    EXPECT_EQ(route.said().retry_after(), 2 * hour);
}

TEST(limits_before_token, have_their_own_faults_first)
{
    limit_rule by_key = by_address("key", 1);
    by_key.key = {{.from = source::header, .name = "x-key", .text = "header:x-key"}};
    limited route{{by_user("user", 9), by_key}};
    EXPECT_EQ(route.ask(token_of("alice")).is, is::unidentified);
    EXPECT_EQ(route.said().deciding()->rule->name, "key");
    EXPECT_FALSE(route.has_verified());
    EXPECT_EQ(route.ask("X-Key: a\r\n").is, is::unidentified);
    EXPECT_EQ(route.said().deciding()->rule->name, "user");
}

TEST(limits_before_token, that_a_store_is_remembered_for_reject_without_asking_it)
{
    limit_rule far = by_address("address", 1);
    far.store = 0;
    limit_rule near = by_user("user", 9);
    near.store = 0;
    limited route{{far, near}};
    route.ask(token_of("alice"));
    EXPECT_THAT(route.shared->asked, ::testing::ElementsAre("address", "user"));
    route.shared->answer({false, true}, false);
    EXPECT_EQ(route.said().is, is::rejected);

    store::answer empty;
    empty.add({.allowed = false, .retry_after = std::chrono::seconds{5}});
    empty.admitted = false;
    route.shared->recalled = empty;
    EXPECT_EQ(route.ask(forged_token(1)).is, is::rejected);
    EXPECT_EQ(route.said().retry_after(), std::chrono::seconds{5});
    EXPECT_EQ(route.ask(token_of("alice")).is, is::rejected);
    EXPECT_FALSE(route.has_verified());
    EXPECT_EQ(route.shared->questions, 1);
}

// The same requests with and without the look before the token is verified.

// Returns limits of which some need a token. Bans go by rejections, of which a request that lacks
// its key is none if the token comes first: where there are bans, every request has its keys.
std::vector<limit_rule> random_limits(std::mt19937& random)
{
    const auto any = [&random](int below) {
        return static_cast<int>(random() % static_cast<unsigned>(below));
    };
    const bool bans = any(2) == 0;
    std::vector<limit_rule> rules;
    for (int i = 0, all = 2 + any(4); i < all; ++i) {
        const std::string name(1, static_cast<char>('a' + i));
        const bool with_token = i == 0 || (i > 1 && any(2) == 0);
        limit_rule rule = with_token ? by_user(name, 1 + any(6)) : by_address(name, 1 + any(6));
        rule.when_missing = static_cast<missing_key>(bans ? 1 + any(2) : any(3));
        rule.mode = any(4) == 0 ? policy::mode::shadow : policy::mode::enforce;
        rule.cost.standard = any(3);
        if (bans && !with_token && any(2) == 0) {
            const auto hour = std::chrono::hours{1};
            rule.penalty = {.after = 2, .within = hour, .ban = hour, .max_ban = 4 * hour};
        }
        rules.push_back(rule);
    }
    return rules;
}

std::string random_lines(std::mt19937& random)
{
    switch (random() % 5) {
        case 0:
            return {};
        case 1:
            return expired_token();
        default:
            return token_of(random() % 2 == 0 ? "alice" : "bob");
    }
}

bool is_same(const verdict::entry& a, const verdict::entry& b)
{
    const auto numbers = [](const verdict::entry& e) {
        const limit::decision& d = e.decision;
        return std::tuple{
            e.rule->name,
            e.what,
            e.decided,
            e.never,
            e.cost,
            d.allowed,
            d.banned,
            d.remaining,
            d.retry_after,
            d.reset_after};
    };
    return numbers(a) == numbers(b);
}

TEST(limits_before_token, change_no_verdict_but_whose_rejection_it_is)
{
    int rejected_early = 0;
    for (unsigned seed = 1; seed <= 60; ++seed) {
        std::mt19937 random{seed};
        const auto rules = random_limits(random);
        limited early{rules};
        limited late{rules};
        late.decide_late();
        for (int i = 0; i < 60; ++i) {
            const std::string lines = random_lines(random);
            const auto client = static_cast<std::uint32_t>(random() % 2);
            const verdict& a = early.ask(lines, client);
            const verdict& b = late.ask(lines, client);
            const auto told = ::testing::Message() << "seed " << seed << ", request " << i;
            const bool same = a.is == b.is && a.count == b.count;
            if (!same) {
                ++rejected_early;
                ASSERT_EQ(a.is, is::rejected) << told;
                ASSERT_TRUE(b.is == is::rejected || b.is == is::unidentified) << told;
                ASSERT_FALSE(early.has_verified()) << told;
            }
            for (std::size_t e = 0; b.is != is::unidentified && e < a.count; ++e) {
                ASSERT_TRUE(is_same(a.limits()[e], b.limits()[e])) << told;
            }
            const auto time = std::chrono::seconds{random() % 1200};
            early.pass_time(time);
            late.pass_time(time);
        }
    }
    EXPECT_GT(rejected_early, 300);
}

TEST(limits_before_token, wait_for_keys_only_if_they_allow_the_request)
{
    using state = request_check::state;
    limited l({by_user("user", 9), by_address("address", 1)});
    l.lose_keys();
    l.ask(token_of("alice"));
    EXPECT_EQ(l.state(), state::lacks_keys);
    l.may_await = true;
    l.ask(token_of("alice"));
    EXPECT_EQ(l.state(), state::awaits_keys);
    EXPECT_EQ(l.awaited, 2);
    EXPECT_EQ(l.ask("").is, is::unidentified) << "without a token there is nothing to wait for";
    EXPECT_EQ(l.ask(expired_token()).is, is::unidentified);
    EXPECT_EQ(l.awaited, 2);
    EXPECT_EQ(l.count(1, outcome::allowed), 0U) << "nothing has been charged";
}

TEST(limits_before_token, in_shadow_mode_have_nobody_wait_for_keys)
{
    limit_rule rule = by_user("user", 9);
    rule.mode = policy::mode::shadow;
    limited l({rule});
    l.may_await = true;
    l.lose_keys();
    l.ask(token_of("alice"));
    EXPECT_EQ(l.state(), request_check::state::decided);
    EXPECT_EQ(l.awaited, 0);
}

}  // namespace limits_before_token_test
}  // namespace gateway::limits
