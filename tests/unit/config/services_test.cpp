// Rate-limit services for Envoy: what arrives where, what is refused, and what is warned of.
#include "config/print.hpp"
#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>

namespace gateway::config {
namespace services_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* served =
    "listeners:\n  - { address: 127.0.0.1:8081, rate_limit_service: edge }\n";

// A file with this service, and limits `logins` and `all` for it beside `a` of the route.
sample with(const std::string& descriptors, const std::string& limit = "rate: 5/m")
{
    sample s;
    s.listeners = served;
    s.limits =
        "limits:\n  a: { key: client_ip, rate: 10/s }\n  logins: { key: "
        "descriptor:remote_address, " +
        limit + " }\n  all: { key: [], rate: 100/s }\n";
    s.rest = "rate_limit_service: { edge: { domain: edge, descriptors: [" + descriptors + "] } }\n";
    return s;
}

const std::string login_rule =
    "{ match: [{ generic_key: login }, remote_address], limits: [logins] }";
const std::string all_rule = "{ match: [{ header_match: \"*\" }], limits: [all] }";

TEST(services, arrive_in_the_policy)
{
    const settings s = with(login_rule + ", " + all_rule).load();
    EXPECT_THAT(s.warnings, IsEmpty());
    EXPECT_EQ(s.server.listeners.at(0).rate_limit_service, "edge");
    const auto& services = s.policy->services;
    ASSERT_EQ(services.size(), 1U);
    EXPECT_EQ(services[0].name, "edge");
    EXPECT_EQ(services[0].domain, "edge");
    EXPECT_EQ(services[0].as_route.name, "rate_limit_service:edge");
    ASSERT_EQ(services[0].descriptors.size(), 2U);
    EXPECT_THAT(
        services[0].descriptors[0].match,
        ElementsAre(
            policy::entry_match{"generic_key", "login"}, policy::entry_match{"remote_address", {}}
        )
    );
    EXPECT_THAT(services[0].descriptors[0].limits, ElementsAre(1U));
    EXPECT_THAT(
        services[0].descriptors[1].match, ElementsAre(policy::entry_match{"header_match", {}})
    );
    EXPECT_EQ(s.policy->limits[1].key.at(0).from, policy::key_part::source::descriptor);
    EXPECT_EQ(s.policy->limits[1].key.at(0).name, "remote_address");
}

TEST(services, are_printed_as_they_are_read)
{
    const settings s =
        with(login_rule + ", " + all_rule + ", { match: [{ a: '1' }, { a: '*' }] }").load();
    const std::string printed = print(s);
    EXPECT_THAT(printed, HasSubstr("match: [{ generic_key: login }, remote_address]"));
    EXPECT_THAT(printed, HasSubstr("match: [{ a: 1 }, a]"));
    EXPECT_THAT(printed, HasSubstr("rate_limit_service: edge"));
    const settings again = load_text(printed, "f");
    EXPECT_EQ(print(again), printed);
    EXPECT_EQ(
        again.policy->services[0].descriptors[0].match, s.policy->services[0].descriptors[0].match
    );
}

TEST(services, need_entries_with_keys)
{
    const auto complaint = [](const std::string& match) {
        return problems_of(with("{ match: " + match + ", limits: [] }").text());
    };
    EXPECT_THAT(complaint("[]"), HasSubstr("expected at least one entry"));
    EXPECT_THAT(complaint("x"), HasSubstr("descriptors[0].match: expected a list"));
    EXPECT_THAT(complaint("['']"), HasSubstr("the key of an entry is 1 to 256 bytes"));
    EXPECT_THAT(complaint("[{ '': x }]"), HasSubstr("the key of an entry is 1 to 256 bytes"));
    EXPECT_THAT(complaint("[{ a: b, c: d }]"), HasSubstr("an entry's key, or { KEY: VALUE }"));
    EXPECT_THAT(complaint("[{ a: [b] }]"), HasSubstr("an entry's key, or { KEY: VALUE }"));
    EXPECT_THAT(complaint("[[a]]"), HasSubstr("an entry's key, or { KEY: VALUE }"));
    EXPECT_EQ(complaint("[{ a: '' }]"), "") << "an empty value is a value";
    EXPECT_THAT(problems_of(with("{ limits: [] }").text()), HasSubstr("match: missing"));
}

TEST(services, have_a_domain_of_their_own)
{
    sample s = with(all_rule);
    s.rest =
        "rate_limit_service:\n  edge: { domain: x, descriptors: [] }\n"
        "  other: { domain: x, descriptors: [] }\n";
    EXPECT_THAT(
        problems_of(s.text()),
        HasSubstr(
            "rate_limit_service.other.domain: \"x\" is the domain of rate_limit_service.edge, too"
        )
    );
    s.rest = "rate_limit_service: { edge: { domain: '', descriptors: [] } }\n";
    EXPECT_THAT(problems_of(s.text()), HasSubstr("domain: expected 1 to 255 bytes"));
    s.rest = "rate_limit_service: { edge: { descriptors: [] } }\n";
    EXPECT_THAT(problems_of(s.text()), HasSubstr("domain: missing"));
}

TEST(services, are_named_by_listeners)
{
    sample s = with(all_rule);
    s.listeners = "listeners: [ { address: ':81', rate_limit_service: egde } ]\n";
    EXPECT_THAT(
        problems_of(s.text()),
        HasSubstr("listeners[0].rate_limit_service: unknown rate_limit_service \"egde\", did you "
                  "mean \"edge\"?")
    );
    s.listeners = "listeners: [ { address: ':81', decide: true, rate_limit_service: edge } ]\n";
    EXPECT_THAT(problems_of(s.text()), HasSubstr("not with \"decide\""));
    s.listeners = "listeners: [ { address: 127.0.0.1:81 } ]\n";
    EXPECT_THAT(
        s.load().warnings,
        Contains(HasSubstr("no listener names this service, so nobody can ask it"))
    );
}

TEST(services, have_no_rules_that_never_match)
{
    const auto complaint = [](const std::string& first, const std::string& second) {
        return problems_of(with("{ match: " + first + " }, { match: " + second + " }").text());
    };
    const std::string never =
        "descriptors[1]: never matches: rate_limit_service.edge.descriptors[0]";
    EXPECT_THAT(complaint("[a]", "[{ a: x }]"), HasSubstr(never));
    EXPECT_THAT(complaint("[a, b]", "[{ a: x }, b]"), HasSubstr(never));
    EXPECT_THAT(complaint("[a]", "[a]"), HasSubstr(never));
    EXPECT_THAT(complaint("[{ a: x }]", "[{ a: x }]"), HasSubstr(never));
    EXPECT_EQ(complaint("[{ a: x }]", "[a]"), "");
    EXPECT_EQ(complaint("[a]", "[a, b]"), "");
    EXPECT_EQ(complaint("[a, b]", "[b, a]"), "");
    EXPECT_EQ(complaint("[{ a: x }, b]", "[a, { b: y }]"), "")
        << "each matches what the other does not";
}

TEST(services, warn_of_patterns_that_are_none)
{
    const settings s = with("{ match: [{ path: '/files*' }], limits: [all] }").load();
    EXPECT_THAT(s.warnings, Contains(HasSubstr("\"/files*\" is matched as it stands")));
}

TEST(services, have_limits_whose_keys_are_entries_that_they_match)
{
    const auto complaint = [](const std::string& match, const std::string& limits) {
        return problems_of(with("{ match: " + match + ", limits: " + limits + " }").text());
    };
    EXPECT_THAT(
        complaint("[remote_address]", "[a]"),
        HasSubstr("descriptors[0].limits: the key of \"a\" asks for client_ip, which Envoy does "
                  "not send here")
    );
    EXPECT_THAT(
        complaint("[generic_key]", "[logins]"),
        HasSubstr("the key of \"logins\" asks for descriptor:remote_address, and \"match\" has no "
                  "such entry")
    );
    EXPECT_THAT(
        complaint("[remote_address, remote_address]", "[logins]"),
        HasSubstr("and \"match\" has more than one, of which none is meant")
    );
    EXPECT_THAT(complaint("[x]", "[missing]"), HasSubstr("unknown limit \"missing\""));
    EXPECT_THAT(complaint("[x]", "[all, all]"), HasSubstr("this limit is listed already"));
}

TEST(services, have_limits_without_what_needs_a_response)
{
    const auto complaint = [](const std::string& limit) {
        return problems_of(with(login_rule, limit).text());
    };
    EXPECT_THAT(
        complaint("algorithm: concurrency, max: 5"),
        HasSubstr("\"logins\" has \"algorithm: concurrency\"")
    );
    EXPECT_THAT(complaint("rate: 5/m, max_wait: 1s"), HasSubstr("\"logins\" has \"max_wait\""));
    EXPECT_THAT(
        complaint("rate: 5/m, charge_on: { status: [401] }"),
        HasSubstr("\"logins\" has \"charge_on\"")
    );
    EXPECT_THAT(complaint("rate: 5/m, cost: 2"), HasSubstr("the cost is Envoy's hits_addend"));
    EXPECT_EQ(complaint("rate: 5/m, penalty: { after: 5, within: 1m, ban: 10m, max_ban: 1d }"), "");
    EXPECT_EQ(complaint("algorithm: sliding_window, rate: 5/m"), "");
}

TEST(services, have_plans_by_entries)
{
    const auto complaint = [](const std::string& part) {
        sample s = with(login_rule, "rate: 5/m, plan: p, plans: { gold: { rate: 9/m } }");
        s.rest += "plans: { p: { key: '" + part + "', members: { gold: [abc] } } }\n";
        return problems_of(s.text());
    };
    EXPECT_EQ(complaint("descriptor:generic_key"), "");
    EXPECT_THAT(complaint("header:x"), HasSubstr("the plan of \"logins\" asks for header:x"));
    EXPECT_THAT(
        complaint("descriptor:user"), HasSubstr("the plan of \"logins\" asks for descriptor:user")
    );
}

TEST(services, share_one_shared_store)
{
    sample s = with(
        "{ match: [remote_address], limits: [logins] }, { match: [x], limits: [all] }",
        "rate: 5/m, store: one"
    );
    s.limits.replace(s.limits.find("100/s"), 5, "100/s, store: two");
    s.stores = "stores: { one: { url: 'redis://h' }, two: { url: 'redis://i' } }\n";
    EXPECT_THAT(
        problems_of(s.text()),
        HasSubstr("descriptors[1].limits: limits of two shared stores, \"one\" and \"two\"")
    );
}

TEST(services, alone_have_keys_of_entries)
{
    sample s = with(login_rule);
    s.routes = "routes: [ { limits: [logins], upstream: u } ]\n";
    EXPECT_THAT(
        problems_of(s.text()),
        HasSubstr("routes[0].limits: \"logins\" asks for a descriptor's entry, which only a "
                  "rate_limit_service has")
    );
    s = with(login_rule);
    s.rest += "log: { fields: { who: descriptor:remote_address } }\n";
    EXPECT_THAT(problems_of(s.text()), HasSubstr("only keys of limits and plans have entries"));
}

}  // namespace services_test
}  // namespace gateway::config
