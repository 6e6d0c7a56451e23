// The keys of plans: what arrives where, what is refused, and files of members.
#include "config/print.hpp"
#include "tests/unit/config/sample.hpp"
#include "tests/unit/own_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <sys/stat.h>

namespace gateway::config {
namespace plans_test {

using rule_kind = policy::plan_rule::kind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* by_key =
    "plans: { api: { key: header:X-Key, members: { gold: [abc, def], free: [ghi] } } }\n";

// A limit with this beside its key and rate, and these plans.
sample with(const std::string& plans, const std::string& more, const std::string& rate = "10/s")
{
    sample s;
    s.rest = plans;
    s.limits = "limits: { a: { key: client_ip, rate: " + rate + ", " + more + " } }\n";
    return s;
}

// A folder of its own, with a configuration and a plan file.
class plan_files : public ::testing::Test {
protected:
    const unit::own_folder files;
    const std::filesystem::path& folder = files.path();

    void write(const std::string& name, const std::string& text) const
    {
        std::ofstream{folder / name} << text;
    }

    settings load(const std::string& file, const settings* running = nullptr) const
    {
        const sample s = with(
            "plans: { api: { key: header:x, file: '" + file + "' } }\n",
            "plan: api, plans: { gold: { rate: 20/s } }"
        );
        return load_text(s.text(), (folder / "gateway.yaml").string(), running);
    }

    std::string problems(const std::string& file) const
    {
        try {
            load(file);
            return {};
        } catch (const config_error& e) {
            return e.what();
        }
    }
};

TEST(plans, arrive_where_they_belong)
{
    const settings s =
        with(
            "plans:\n"
            "  api: { key: header:X-Key, members: { gold: [abc, def], free: [ghi] }, default: x }\n"
            "  nets: { key: [client_ip], members: { staff: [10.0.0.0/8, \"2001:db8::1\"] } }\n",
            "plan: api, plans: { gold: { rate: 100/s, burst: 7 }, x: unlimited, free: blocked }"
        )
            .load();
    ASSERT_EQ(s.policy->plans.size(), 2U);
    const policy::plan_section& api = s.policy->plans[0];
    EXPECT_EQ(api.name, "api");
    EXPECT_EQ(api.key.name, "x-key");
    EXPECT_EQ(api.standard, "x");
    EXPECT_THAT(api.members->names(), ElementsAre("gold", "free"));
    EXPECT_EQ(api.members->find("def"), 1);
    const policy::plan_section& nets = s.policy->plans[1];
    EXPECT_TRUE(nets.by_address());
    EXPECT_EQ(nets.members->find(*base::ip_address::parse("10.9.9.9")), 1);
    const policy::plan_choice& c = s.policy->limits[0].plan;
    EXPECT_EQ(c.plans, 0U);
    ASSERT_EQ(c.rules.size(), 3U);
    EXPECT_EQ(c.of(1)->what, rule_kind::limited);
    EXPECT_EQ(c.of(1)->limit, *limit::limit::make(100, std::chrono::seconds{1}, 7));
    EXPECT_EQ(c.of(2)->what, rule_kind::blocked);
    EXPECT_EQ(c.of(0)->what, rule_kind::unlimited);
    EXPECT_THAT(s.warnings, ElementsAre(HasSubstr("plans.nets: no limit uses these plans")));
}

TEST(plans, are_split_as_their_limit_is)
{
    const settings s =
        with(by_key, "shards: 8, plan: api, plans: { gold: { rate: 20/s } }", "10/d").load();
    const policy::limit_rule& rule = s.policy->limits[0];
    EXPECT_EQ(rule.limit.parts().size(), 8U);
    ASSERT_EQ(rule.plan.rules[0].limit.parts().size(), 8U);
    EXPECT_EQ(rule.plan.rules[0].limit.parts()[0].burst(), 3);
    EXPECT_THAT(
        problems_of(
            with(by_key, "shards: 8, plan: api, plans: { gold: { rate: 7/s } }", "10/d").text()
        ),
        HasSubstr("plans.gold.rate: too few tokens for 8 shards")
    );
}

TEST(plans, have_numbers_of_the_limits_own_algorithm_and_start)
{
    const settings s = with(
                           by_key,
                           "algorithm: fixed_window, start: \"08:00\", time_zone: Europe/Berlin, "
                           "plan: api, plans: { gold: { rate: 100/d, capacity: 150 } }",
                           "10/d"
    )
                           .load();
    const policy::limit_rule& rule = s.policy->limits[0];
    const limit::limit& gold = rule.plan.rules[0].limit;
    EXPECT_EQ(gold.burst(), 150);
    ASSERT_NE(gold.in_nanoseconds().issued_in, nullptr);
    EXPECT_FALSE(gold.issues_as(rule.limit));
}

TEST(plans, make_the_host_be_read)
{
    const auto reads = [](const std::string& key) {
        return with(
                   "plans: { api: { key: " + key + ", members: { gold: [abc] } } }\n",
                   "plan: api, plans: { gold: unlimited }"
        )
            .load()
            .policy->reads_hosts;
    };
    EXPECT_TRUE(reads("host"));
    EXPECT_FALSE(reads("method"));
}

TEST(plans, mistakes_of_a_section)
{
    const auto section = [](const std::string& text) { return "plans: { api: { " + text + " } }"; };
    const std::string long_key(257, 'x');
    const std::vector<std::pair<std::string, std::string>> table{
        {"members: { gold: [a] }", "f:1:15: plans.api.key: missing"},
        {"key: method", "f:1:15: plans.api.members: expected one of file and members"},
        {"key: method, file: x, members: {}",
         "plans.api.members: expected one of file and members"},
        {"key: [method, host], members: {}", "f:1:22: plans.api.key: expected one key part"},
        {"key: [], members: {}", "f:1:22: plans.api.key: expected one key part"},
        {"key: client_ip/24, members: {}",
         "f:1:22: plans.api.key: write client_ip: members may be prefixes of any length"},
        {"key: heeder:x, members: {}", "f:1:22: plans.api.key: expected client_ip, "},
        {"key: method, members: [a]", "plans.api.members: expected a mapping, got a list"},
        {"key: method, members: { gold: a }",
         "f:1:47: plans.api.members.gold: expected a list of keys, got a plain value"},
        {"key: method, members: { gold: [[a]] }", "plans.api.members.gold[0]: expected a key"},
        {"key: method, members: { \"a b\": [a] }", "plans.api.members.\"a b\": a name is 1 to 64"},
        {"key: method, members: { gold: [a], gold: [b] }", "plans.api.members.gold: duplicate key"},
        {"key: method, members: { gold: [a], free: [b, a] }",
         "f:1:62: plans.api.members.free[1]: this key is in another plan already"},
        {"key: method, members: { gold: [\"\"] }", "plans.api.members.gold[0]: the key is empty"},
        {"key: method, members: { gold: [" + long_key + "] }",
         "plans.api.members.gold[0]: the key is too long, the maximum is 256 bytes"},
        {"key: client_ip, members: { gold: [10.1.0.0/8] }",
         "plans.api.members.gold[0]: expected an address or a prefix such as 10.0.0.0/8"},
        {"key: method, members: {}, default: a b", "plans.api.default: the name of a plan is"},
        {"key: method, members: {}, defualt: x", "unknown key, did you mean \"default\"?"},
        {"key: method, file: /nowhere/at/all",
         "f:1:36: plans.api.file: /nowhere/at/all: cannot be read: No such file"},
        {"key: method, file: /", "plans.api.file: /: not a regular file"},
        {"key: method, file: \"\"", "plans.api.file: expected the name of a file"},
    };
    for (const auto& [text, expected] : table) {
        EXPECT_THAT(problems_of(with(section(text) + "\n", "cost: 1").text()), HasSubstr(expected))
            << text;
    }
}

TEST(plans, mistakes_of_a_limit)
{
    const std::vector<std::pair<std::string, std::string>> table{
        {"plan: ap, plans: { gold: blocked }",
         "plan: unknown section of \"plans\" \"ap\", did you "},
        {"plan: api", "limits.a.plan: has no effect without \"plans\""},
        {"plans: { gold: blocked }", "limits.a.plans: has no effect without \"plan\""},
        {"plan: api, plans: [gold]", "limits.a.plans: expected a mapping, got a list"},
        {"plan: api, plans: { glod: blocked }",
         "limits.a.plans.glod: nobody has this plan in plans.api, did you mean \"gold\"?"},
        {"plan: api, plans: { gold: blocekd }",
         "limits.a.plans.gold: expected { rate: ... }, unlimited or blocked, got \"blocekd\", did "
         "you mean \"blocked\"?"},
        {"plan: api, plans: { gold: [1] }", "expected { rate: ... }, unlimited or blocked, got a"},
        {"plan: api, plans: { gold: { burst: 5 } }", "limits.a.plans.gold.rate: missing"},
        {"plan: api, plans: { gold: { rate: 5 } }", "limits.a.plans.gold.rate: expected a rate"},
        {"plan: api, plans: { gold: { rate: 5/s, burst: 0 } }",
         "limits.a.plans.gold.burst: too small, the minimum is 1"},
        {"plan: api, plans: { gold: { rate: 5/s, capacity: 9 } }",
         "limits.a.plans.gold.capacity: only for \"algorithm: fixed_window\""},
        {"plan: api, plans: { gold: { rate: 5/s, cost: 9 } }",
         "limits.a.plans.gold.cost: unknown key"},
        {"plan: api, plans: { gold: { rate: 1/mo } }",
         "limits.a.plans.gold.rate: months differ in length"},
        {"plan: api, plans: { gold: { rate: 1/d, burst: 1000000 } }",
         "limits.a.plans.gold.burst: a refill of 1000000 tokens would take too long"},
        {"cost: 9, plan: api, plans: { gold: { rate: 5/s } }",
         "limits.a.plans.gold.rate: a burst of 5 is less than the limit's \"cost\", which is 9: no "
         "request could ever pass"},
        {"cost: 9, plan: api, plans: { gold: { rate: 50/s, burst: 8 } }",
         "limits.a.plans.gold.burst: a burst of 8 is less than the limit's \"cost\", which is 9"},
        {"cost: { methods: { POST: 9 } }, plan: api, plans: { gold: { rate: 5/s } }",
         "limits.a.plans.gold.rate: a burst of 5 is less than the limit's \"cost\" of POST, which "
         "is 9: no such request could ever pass"},
        {"cost: { header: x, max: 9, default: 7 }, plan: api, plans: { gold: { rate: 5/s } }",
         "limits.a.plans.gold.rate: a burst of 5 is less than the limit's \"cost\" by default, "
         "which is 7"},
        {"algorithm: fixed_window, plan: api, plans: { gold: { rate: 5/mo } }",
         "limits.a.plans.gold.rate: does not go with the limit's \"start\": missing: a month"},
        {"shards: 4, plan: api, plans: { gold: { rate: 50/s, burst: 3 } }",
         "limits.a.plans.gold.burst: too few tokens for 4 shards"},
        {"plan: api, plans: { gold: blocked, gold: unlimited }", "plans.gold: duplicate key"},
    };
    for (const auto& [text, expected] : table) {
        EXPECT_THAT(problems_of(with(by_key, text).text()), HasSubstr(expected)) << text;
    }
}

TEST(plans, of_a_shared_store_are_slow_enough_for_it)
{
    sample s = with(by_key, "store: r, plan: api, plans: { gold: { rate: 2000000/s } }");
    s.stores = "stores: { r: { url: redis://h } }\n";
    EXPECT_THAT(
        problems_of(s.text()), HasSubstr("limits.a.plans: too fast for a shared store, the maximum")
    );
}

TEST(plans, are_printed_without_their_secrets)
{
    const std::string once = print(
        with(
            "plans:\n"
            "  api: { key: header:x, members: { gold: [abc, def], free: [ghi] }, default: free }\n"
            "  nets: { key: client_ip, members: { gold: [10.0.0.0/8] } }\n",
            "plan: api, plans: { gold: { rate: 20/s }, free: blocked }"
        )
            .load()
    );
    EXPECT_THAT(once, HasSubstr("members: { gold: [\"***1\", \"***2\"], free: [\"***3\"] }\n"));
    EXPECT_THAT(once, HasSubstr("default: free\n"));
    EXPECT_THAT(once, HasSubstr("members: { gold: [10.0.0.0/8] }\n"));
    EXPECT_THAT(once, HasSubstr("plans: { gold: { rate: 20/s, burst: 20 }, free: blocked }\n"));
    EXPECT_EQ(print(load_text(once, "f")), once);
}

TEST_F(plan_files, are_named_from_the_folder_of_the_configuration)
{
    write("p.csv", "abc,gold\n");
    const settings s = load("p.csv");
    EXPECT_EQ(s.policy->plans[0].members->find("abc"), 1);
    EXPECT_EQ(s.written_plans[0].path, (folder / "p.csv").string());
    EXPECT_EQ(s.written_plans[0].stamp, stamp_of((folder / "p.csv").string()));
    EXPECT_THAT(print(s), HasSubstr("    file: p.csv\n"));
    EXPECT_THAT(load((folder / "p.csv").string()).warnings, IsEmpty());
}

TEST_F(plan_files, are_complained_of_with_their_line)
{
    write("p.csv", "abc,gold\n\nabc\n");
    EXPECT_THAT(
        problems("p.csv"),
        HasSubstr(
            "gateway.yaml:1:38: plans.api.file: " + (folder / "p.csv").string() +
            ":3: expected KEY,PLAN"
        )
    );
}

TEST_F(plan_files, may_lack_a_plan_that_a_limit_names)
{
    write("p.csv", "abc,glod\n");
    EXPECT_THAT(
        load("p.csv").warnings,
        Contains(HasSubstr("nobody has this plan in plans.api, did you mean \"glod\"?"))
    );
}

TEST_F(plan_files, are_warned_of_where_no_limit_knows_a_plan)
{
    write("p.csv", "abc,gold\ndef,glod\nghi,free\njkl,glod\n");
    EXPECT_THAT(
        load("p.csv").warnings,
        ElementsAre(
            HasSubstr(
                "plans.api: no limit names the plan \"glod\", so its members have each limit's own "
                "numbers, did you mean \"gold\"?"
            ),
            HasSubstr("no limit names the plan \"free\"")
        )
    );
    const std::string with_default =
        "plans: { api: { key: header:x, file: p.csv, default: free } }";
    const sample s = with(with_default + "\n", "plan: api, plans: { gold: { rate: 20/s } }");
    EXPECT_THAT(
        load_text(s.text(), (folder / "gateway.yaml").string()).warnings,
        ElementsAre(HasSubstr("\"glod\""))
    );
}

TEST(plans, are_warned_of_where_a_member_is_no_route)
{
    sample s = with(
        "plans: { p: { key: route, members: { gold: [orders, ordrs], free: [search] } } }\n",
        "plan: p, plans: { gold: { rate: 20/s }, free: blocked }"
    );
    s.routes =
        "routes:\n- { name: orders, match: { path: /o }, upstream: u, limits: [a] }\n"
        "- { name: search, match: { path: /s }, upstream: u, limits: [a] }\n";
    EXPECT_THAT(
        s.load().warnings,
        ElementsAre(HasSubstr(
            "plans.p.members.gold: no route has the name \"ordrs\", did you mean \"orders\"?"
        ))
    );
}

TEST_F(plan_files, are_not_read_again_until_they_change)
{
    write("p.csv", "abc,gold\n");
    const settings first = load("p.csv");
    const settings second = load("p.csv", &first);
    EXPECT_EQ(second.policy->plans[0].members, first.policy->plans[0].members);
    write("p.csv", "abc,gold\ndef,gold\n");
    const settings third = load("p.csv", &second);
    EXPECT_NE(third.policy->plans[0].members, first.policy->plans[0].members);
    EXPECT_EQ(third.policy->plans[0].members->size(), 2U);
    EXPECT_THAT(problems("other.csv"), HasSubstr("cannot be read"));
}

TEST_F(plan_files, that_are_pipes_hold_nobody)
{
    ASSERT_EQ(::mkfifo((folder / "p.csv").c_str(), 0600), 0);
    EXPECT_THAT(problems("p.csv"), HasSubstr("not a regular file"));
}

}  // namespace plans_test
}  // namespace gateway::config
