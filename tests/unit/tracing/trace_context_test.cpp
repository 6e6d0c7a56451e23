#include "gateway/tracing/trace_context.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gateway::tracing {
namespace trace_context_test {

constexpr std::string_view sampled_parent =
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr std::string_view unsampled_parent =
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02";

trace_context context(std::string_view parent, const sampling& rules = {.on = true, .share = 0})
{
    static std::mt19937_64 random{1};
    return context_of(parent, rules, random);
}

std::string text(const trace_context& c)
{
    const auto made = c.for_server();
    return {made.data(), made.size()};
}

TEST(trace_context, follows_a_parent)
{
    const trace_context c = context(sampled_parent);
    EXPECT_EQ(c.trace, (http::trace_id{0x0af7651916cd43dd, 0x8448eb211c80319c}));
    EXPECT_EQ(c.parent, 0xb7ad6b7169203331);
    EXPECT_TRUE(c.sampled) << "whatever the share of those that begin here";
    EXPECT_NE(c.span, 0U);
    EXPECT_NE(c.span, c.attempt);
    EXPECT_TRUE(http::is_trace_parent(text(c)));
    EXPECT_EQ(text(c).substr(0, 36), sampled_parent.substr(0, 36));
    EXPECT_EQ(text(c).substr(53), "01");
}

TEST(trace_context, does_not_record_what_its_parent_does_not)
{
    const trace_context c = context(unsampled_parent, {.on = true, .share = sampling::all});
    EXPECT_FALSE(c.sampled);
    EXPECT_EQ(text(c).substr(53), "02") << "other flags stay";
}

TEST(trace_context, begins_a_trace_and_records_its_share)
{
    std::mt19937_64 random{2};
    constexpr int requests = 100'000;
    int recorded = 0;
    for (int i = 0; i < requests; ++i) {
        const trace_context c = context_of("", {.on = true, .share = 10'000}, random);
        EXPECT_EQ(c.parent, 0U);
        EXPECT_TRUE(http::is_trace_parent(text(c)));
        recorded += c.sampled ? 1 : 0;
    }
    EXPECT_NEAR(recorded, requests / 100, 200);
    EXPECT_FALSE(context("", {.on = true, .share = 0}).sampled);
    EXPECT_TRUE(context("", {.on = true, .share = sampling::all}).sampled);
}

TEST(trace_context, keeps_what_is_to_be_kept_of_an_unsampled_parent)
{
    const trace_context c = context(unsampled_parent);
    const sampling none{.on = true};
    const sampling rejected{.on = true, .keep_rejected = true};
    const sampling errors{.on = true, .keep_errors = true};
    EXPECT_FALSE(is_recorded(c, none, true, true));
    EXPECT_TRUE(is_recorded(c, rejected, true, false));
    EXPECT_FALSE(is_recorded(c, rejected, false, true));
    EXPECT_TRUE(is_recorded(c, errors, false, true));
    EXPECT_FALSE(is_recorded(c, errors, true, false));
    EXPECT_TRUE(is_recorded(context(sampled_parent), none, false, false));
}

}  // namespace trace_context_test
}  // namespace gateway::tracing
