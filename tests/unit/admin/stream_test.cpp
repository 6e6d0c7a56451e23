#include "gateway/admin/stream/event_id.hpp"
#include "gateway/admin/stream/findings.hpp"
#include "gateway/admin/stream/recent_top.hpp"
#include "gateway/admin/stream/sections.hpp"
#include "gateway/identity/bucket_name.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace gateway::admin {
namespace {

using std::chrono::seconds;
using hitter = limits::heavy_hitters::hitter;

std::string bucket(std::string_view client, std::string_view limit = "l")
{
    identity::bucket_name name;
    name.start(limit);
    name.add(client);
    return std::string{name.bytes()};
}

TEST(event_id, is_read_by_the_same_process_alone)
{
    EXPECT_EQ(event_id("17", 42), "17-42");
    EXPECT_EQ(event_number("17-42", "17"), 42U);
    for (const char* const other : {"", "17", "17-", "17-x", "18-42", "1742", "17-42 ", "17--1"}) {
        EXPECT_EQ(event_number(other, "17"), 0U) << other;
    }
}

TEST(recent_top, counts_the_last_ten_seconds)
{
    recent_top top;
    top.add({hitter{.name = bucket("a"), .count = 100}, hitter{.name = bucket("b"), .count = 5}});
    ASSERT_EQ(top.all().size(), 2U);
    EXPECT_EQ(top.all()[0].count, 100U);
    for (std::size_t i = 0; i < recent_top::window; ++i) {
        top.add(
            {hitter{.name = bucket("a"), .count = 100}, hitter{.name = bucket("b"), .count = 6 + i}}
        );
    }
    ASSERT_EQ(top.all().size(), 1U);
    EXPECT_EQ(top.all()[0].name, bucket("b"));
    EXPECT_EQ(top.all()[0].count, recent_top::window);
}

TEST(recent_top, is_never_above_the_truth)
{
    recent_top top;
    top.add({hitter{.name = bucket("a"), .count = 50, .error = 20}});
    EXPECT_EQ(top.all()[0].count, 30U);
    // It has lost its slot, and found another one.
    top.add({hitter{.name = bucket("a"), .count = 60, .error = 55}});
    EXPECT_EQ(top.all()[0].count, 5U);
}

TEST(sections, are_told_when_they_have_changed)
{
    sections all;
    const auto changed = [&all](std::uint64_t seen) {
        std::string text;
        all.append_changed(text, audience::anybody, seen);
        return text;
    };
    EXPECT_EQ(changed(0), "");
    all.set("a", audience::anybody, 1, 5);
    all.set("b", audience::anybody, "x", 6);
    all.set("a", audience::with_token, 2, 7);
    all.set("a", audience::anybody, 1, 8);
    EXPECT_EQ(changed(0), ",\"state\":{\"a\":1,\"b\":\"x\"}");
    EXPECT_EQ(changed(5), ",\"state\":{\"b\":\"x\"}");
    EXPECT_EQ(changed(6), "");
}

class find_causes_test : public ::testing::Test {
protected:
    telemetry::totals now_;
    telemetry::history past_{{}};
    std::vector<telemetry::server_figures> servers_;
    std::vector<telemetry::certificate_figures> certificates_;
    process_report process_{.max_connections = 100};
    store_states stores_;
    std::vector<recent_top::bucket> rejected_;

    std::vector<finding> found()
    {
        past_.add(now_, seconds{1});
        return find_causes(
            {past_, servers_, certificates_, process_, stores_, rejected_, seconds{1'000'000}}
        );
    }

    // Returns "cause name text", if there is exactly one finding.
    std::string only()
    {
        const auto all = found();
        return all.size() == 1 ? std::string{all[0].cause} + ' ' + all[0].name + ' ' + all[0].text
                               : std::to_string(all.size()) + " findings";
    }

    void count(telemetry::outcome o, std::uint64_t times)
    {
        now_.limits["l"].decisions[static_cast<std::size_t>(o)] += times;
    }
};

TEST_F(find_causes_test, finds_nothing_where_nothing_is_wrong)
{
    count(telemetry::outcome::allowed, 1000);
    count(telemetry::outcome::rejected, 19);
    now_.stores["s"];
    stores_["s"];
    servers_.push_back({.name = {"u", "s1"}});
    EXPECT_TRUE(found().empty());
}

TEST_F(find_causes_test, names_a_store_that_is_down_and_why)
{
    stores_["s"] = {.is_up = false, .reason = "timeout"};
    EXPECT_EQ(only(), "store s is down: timeout; limits in it decide by on_store_failure");
}

TEST_F(find_causes_test, names_a_store_that_fails_now_and_then)
{
    now_.stores["s"].failures[1] = 3;
    stores_["s"] = {.reason = "timeout"};
    EXPECT_EQ(only(), "store s has failed 3 calls in the last 10 s: timeout");
}

TEST_F(find_causes_test, names_a_server_and_what_is_wrong_with_it)
{
    servers_.push_back({.name = {"u", "s1"}, .up = false, .healthy = false});
    EXPECT_EQ(only(), "upstream u server s1 fails its health checks");
    servers_.front() = {.name = {"u", "s1"}, .up = false, .ejected_for = seconds{7}};
    EXPECT_EQ(
        only(), "upstream u server s1 is ejected for 7 s more, after failures one after the other"
    );
}

TEST_F(find_causes_test, names_an_upstream_without_a_server_that_is_out)
{
    now_.upstreams["u"].failures[1] = 4;
    now_.upstreams["u"].duration[0] = 9;
    EXPECT_EQ(
        only(), "upstream u has failed 4 times in the last 10 s, beside 9 responses: connect"
    );
}

TEST_F(find_causes_test, names_a_client_with_most_of_the_rejections)
{
    count(telemetry::outcome::rejected, 50);
    rejected_ = {{bucket("a"), false, 40}, {bucket("b"), false, 10}};
    EXPECT_EQ(
        only(),
        "client l has 40 requests rejected by limit l in the last 10 s, 80 % of its rejections"
    );
}

TEST_F(find_causes_test, names_the_limit_if_many_clients_are_rejected)
{
    count(telemetry::outcome::rejected, 50);
    count(telemetry::outcome::allowed, 50);
    rejected_ = {{bucket("a"), false, 20}, {bucket("b"), false, 15}, {bucket("c"), false, 15}};
    EXPECT_EQ(only(), "limit l rejects 50 % of its requests in the last 10 s, of many clients");
}

TEST_F(find_causes_test, tells_a_limit_in_shadow_mode_from_one_that_rejects)
{
    count(telemetry::outcome::shadow_rejected, 50);
    rejected_ = {{bucket("a"), false, 40}};
    EXPECT_EQ(
        only(),
        "client l has 40 requests that limit l (shadow) would reject in the last 10 s, 80 % of its "
        "rejections"
    );
    rejected_.clear();
    EXPECT_EQ(
        only(),
        "limit l (shadow) would reject 100 % of its requests in the last 10 s, of many clients"
    );
}

TEST_F(find_causes_test, blames_the_gateway_for_its_own_errors_alone)
{
    now_.requests.server_errors = 3;
    now_.requests.duration[0] = 3;
    EXPECT_EQ(
        only(),
        "gateway responses 3 responses of 500 and above in the last 10 s, which no failure of an "
        "upstream explains"
    );
    now_.upstreams["u"].failures[1] = 3;
    EXPECT_EQ(found().front().cause, "upstream");
}

TEST_F(find_causes_test, tells_of_the_process_and_its_files)
{
    process_.reload.succeeded = false;
    process_.draining = true;
    process_.plans_refused = {"p"};
    now_.connections.clients = 90;
    certificates_ = {{"c.pem", seconds{1'000'000 + 86'400}}, {"d.pem", seconds{99'999'999}}};
    std::string names;
    for (const finding& f : found()) {
        EXPECT_EQ(f.cause, "gateway");
        names += f.name + ',';
    }
    EXPECT_EQ(names, "max_connections,drain,configuration,plans.p,certificate c.pem,");
}

TEST(set_since, keeps_the_moment_of_what_was_found_before)
{
    std::vector<finding> before{{.cause = "store", .name = "s", .since = seconds{5}}};
    std::vector<finding> now{
        {.cause = "store", .name = "s", .text = "other"}, {.cause = "store", .name = "t"}};
    set_since(now, before, seconds{9});
    EXPECT_EQ(now[0].since, seconds{5});
    EXPECT_EQ(now[1].since, seconds{9});
}

}  // namespace
}  // namespace gateway::admin
