// What plans make of a request's limits.
#include "gateway/intake/request_plan.hpp"

#include "gateway/http/input/request_parser.hpp"
#include "gateway/limits/checks/check_request.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace gateway::limits {
namespace request_plan_test {

using policy::mode;
using rule_kind = policy::plan_rule::kind;
using source = policy::key_part::source;
using telemetry::outcome;
using is = limits::verdict::ruling;

limit::limit per_hour(std::int64_t burst)
{
    return *limit::limit::make(burst, std::chrono::hours{1}, burst);
}

// One limit "l" of 3 tokens by address, of which gold has 5, staff has none, and banned is refused.
class plans : public ::testing::Test, private limits::verdict_listener {
protected:
    policy::plan_section section{
        .name = "api",
        .key = {.from = source::header, .name = "x-key"},
    };
    policy::plan_table members{base::hash_key{1, 2}};
    mode how = mode::enforce;
    policy::missing_key when_missing = policy::missing_key::reject;
    policy::key_part bucket_key{};
    const char* client = "10.0.0.1";

    plans()
    {
        for (const char* name : {"gold", "staff", "banned", "free"}) {
            members.add(std::string{name} + "-key", members.plan_named(name));
        }
    }

    const limits::verdict& ask(const std::string& lines)
    {
        bytes_ = "GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n";
        EXPECT_EQ(
            http::parse_request_head(bytes_, {}, head_).is, http::parse_result::state::complete
        );
        prepare();
        const auto address = *base::ip_address::parse(client);
        intake::key_subject subject{
            .head = &head_,
            .address = address,
            .client = address.masked(32, 64),
            .host = "h",
            .path = "/",
            .route = "r"};
        const limits::verdict* const v =
            check_request(check_, view_, route_, subject, *this).verdict;
        EXPECT_NE(v, nullptr);
        return *v;
    }

    // "LIMIT REMAINING" as told to the client; empty: nothing.
    std::string told(const std::string& lines)
    {
        std::vector<http::limit_report> reports;
        ask(lines).reports(reports);
        return reports.empty() ? ""
                               : std::to_string(reports[0].limit->burst()) + ' ' +
                                     std::to_string(reports[0].decision.remaining);
    }

    std::uint64_t count(outcome o) const
    {
        return metrics_.decisions[static_cast<std::size_t>(o)].value();
    }

    std::string_view logged_bucket() const { return check_.bucket_name(0); }

    // Names that are counted.
    std::size_t hitters() const { return top_.by_requests.all().size(); }

    void use(policy::plan_table table) { members = std::move(table); }

    store::memory_store local{{.max_buckets = 1024}};

private:
    std::string bytes_;
    http::request_head head_;
    net::loop loop_;
    telemetry::limit_metrics metrics_;
    std::shared_ptr<policy::policy> policy_;
    limits::policy_view view_;
    policy::route route_;
    limits::top_buckets top_;
    limits::bucket_parts parts_;
    limits::limit_check check_{local, loop_.clock(), top_, parts_};

    void prepare()
    {
        policy_ = std::make_shared<policy::policy>();
        policy_->plans = {section};
        policy_->plans[0].members = std::make_shared<const policy::plan_table>(members);
        policy_->limits.push_back({
            .name = "l",
            .key = {bucket_key},
            .when_missing = when_missing,
            .limit = per_hour(3),
            .plan =
                {.plans = 0,
                 .rules =
                     {{"gold", rule_kind::limited, per_hour(5)},
                      {"staff", rule_kind::unlimited, per_hour(3)},
                      {"banned", rule_kind::blocked, per_hour(3)}}},
            .mode = how,
        });
        policy_->finish();
        view_.policy = policy_;
        view_.limits = {&metrics_};
        route_.limits = {0};
    }

    void decided(const limits::verdict&) override { ADD_FAILURE() << "nothing is shared"; }
};

TEST_F(plans, choose_the_numbers)
{
    EXPECT_EQ(told("X-Key: gold-key\r\n"), "5 4");
    client = "10.0.0.2";
    EXPECT_EQ(told("X-Key: free-key\r\n"), "3 2");
    EXPECT_EQ(told("X-Key: nobody\r\n"), "3 1");
    EXPECT_EQ(told(""), "3 0");
    const limits::verdict& v = ask("");
    EXPECT_EQ(v.is, is::rejected);
    EXPECT_EQ(count(outcome::rejected), 1U);
}

TEST_F(plans, are_named_for_the_log)
{
    EXPECT_EQ(ask("X-Key: gold-key\r\n").plans, "gold");
    EXPECT_EQ(ask("X-Key: staff-key\r\n").plans, "staff");
    EXPECT_EQ(ask("X-Key: banned-key\r\n").plans, "banned");
    EXPECT_EQ(ask("X-Key: nobody\r\n").plans, "");
    EXPECT_EQ(ask("").plans, "");
    section.standard = "gold";
    EXPECT_EQ(ask("").plans, "gold");
}

TEST_F(plans, of_several_limits_are_named_once_each)
{
    intake::named_charges v;
    for (const char* name : {"gold", "", "go", "gold", "staff", "go"}) {
        v.note_plan(name);
    }
    EXPECT_EQ(v.plans, "gold,go,staff");
    v.clear();
    EXPECT_EQ(v.plans, "");
}

TEST_F(plans, have_a_default_for_everybody_else)
{
    section.standard = "gold";
    EXPECT_EQ(told(""), "5 4");
    EXPECT_EQ(told("X-Key: nobody\r\n"), "5 3");
    EXPECT_EQ(told("X-Key: free-key\r\n"), "3 0");
}

TEST_F(plans, may_lift_a_limit)
{
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(ask("X-Key: staff-key\r\n").is, is::allowed);
        EXPECT_EQ(told("X-Key: staff-key\r\n"), "");
    }
    EXPECT_EQ(local.size(), 0U);
    EXPECT_EQ(count(outcome::allowed), 0U);
    bucket_key = {.from = source::header, .name = "x-other"};
    EXPECT_EQ(ask("X-Key: staff-key\r\n").is, is::allowed) << "it needs no key";
    EXPECT_EQ(ask("X-Key: gold-key\r\n").is, is::unidentified);
}

TEST_F(plans, may_block)
{
    const limits::verdict& v = ask("X-Key: banned-key\r\n");
    EXPECT_EQ(v.is, is::blocked);
    ASSERT_NE(v.deciding(), nullptr);
    EXPECT_EQ(v.deciding()->rule->name, "l");
    EXPECT_EQ(v.deciding()->what, outcome::blocked);
    EXPECT_EQ(count(outcome::blocked), 1U);
    EXPECT_NE(logged_bucket(), "");
    EXPECT_EQ(local.size(), 0U);
    EXPECT_EQ(told("X-Key: banned-key\r\n"), "");
}

TEST_F(plans, block_without_a_bucket_where_there_is_no_key)
{
    bucket_key = {.from = source::header, .name = "x-other"};
    EXPECT_EQ(ask("X-Key: banned-key\r\n").is, is::blocked);
    EXPECT_EQ(logged_bucket(), "");
}

TEST_F(plans, never_refuse_in_shadow_mode)
{
    how = mode::shadow;
    const limits::verdict& v = ask("X-Key: banned-key\r\n");
    EXPECT_EQ(v.is, is::allowed);
    std::string names;
    v.append_shadow_rejections(names);
    EXPECT_EQ(names, "l");
    EXPECT_EQ(count(outcome::shadow_rejected), 1U);
    EXPECT_EQ(count(outcome::blocked), 0U);
    EXPECT_EQ(local.size(), 0U);
    EXPECT_EQ(ask("X-Key: gold-key\r\nX-Key: other\r\n").is, is::allowed);
}

TEST_F(plans, that_would_block_a_client_without_a_bucket_count_nobody_else)
{
    how = mode::shadow;
    bucket_key = {.from = source::header, .name = "x-user"};
    EXPECT_EQ(ask("X-Key: banned-key\r\n").is, is::allowed);
    EXPECT_EQ(hitters(), 0U);
    EXPECT_EQ(ask("X-Key: banned-key\r\nX-User: u\r\n").is, is::allowed);
    EXPECT_EQ(hitters(), 1U);
}

TEST_F(plans, are_not_guessed_where_the_key_is_ambiguous)
{
    EXPECT_EQ(ask("X-Key: gold-key\r\nX-Key: banned-key\r\n").is, is::unidentified);
    EXPECT_EQ(ask("X_Key: gold-key\r\n").is, is::unidentified);
}

TEST_F(plans, go_by_the_whole_address)
{
    section.key = {};
    use(policy::plan_table{base::hash_key{3, 4}});
    const auto add = [this](const char* prefix, const char* plan) {
        members.add(*base::ip_prefix::parse(prefix), members.plan_named(plan));
    };
    add("2001:db8::/32", "gold");
    add("2001:db8::7", "staff");
    add("10.0.0.0/8", "banned");
    client = "2001:db8::1";
    EXPECT_EQ(told(""), "5 4");
    client = "2001:db8::7";
    EXPECT_EQ(told(""), "") << "though it shares its bucket with the other";
    client = "10.0.0.1";
    EXPECT_EQ(ask("").is, is::blocked);
    client = "11.0.0.1";
    EXPECT_EQ(told(""), "3 2");
}

TEST_F(plans, that_change_leave_what_is_owed)
{
    EXPECT_EQ(told("X-Key: gold-key\r\n"), "5 4");
    EXPECT_EQ(told("X-Key: gold-key\r\n"), "5 3");
    EXPECT_EQ(told("X-Key: free-key\r\n"), "3 0") << "2 are owed, and 1 more";
    EXPECT_EQ(ask("X-Key: free-key\r\n").is, is::rejected);
    EXPECT_EQ(told("X-Key: gold-key\r\n"), "5 1");
}

TEST_F(plans, of_a_fixed_window_leave_what_is_owed_too)
{
    const auto window = [](std::int64_t count) {
        return *limit::limit::in_windows(
            {.count = count, .length = std::chrono::hours{1}, .capacity = count}
        );
    };
    const limit::limit gold = window(5);
    const limit::limit own = window(3);
    const auto left = [this](const limit::limit& l) {
        const store::charge c{
            .limit_name = "w", .bucket_name = base::hashed_name{"b"}, .limit = &l};
        store::answer a;
        EXPECT_TRUE(local.take({&c, 1}, base::instant{std::chrono::hours{1}}, a));
        const limit::decision& d = a.decisions()[0];
        return d.allowed ? d.remaining : -1;
    };
    EXPECT_EQ(left(gold), 4);
    EXPECT_EQ(left(gold), 3);
    EXPECT_EQ(left(own), 0);
    EXPECT_EQ(left(own), -1);
    EXPECT_EQ(left(gold), 1);
}

}  // namespace request_plan_test
}  // namespace gateway::limits
