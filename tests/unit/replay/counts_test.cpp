#include "gateway/replay/client_counts.hpp"
#include "gateway/replay/reports/html_text.hpp"
#include "gateway/replay/reports/number_text.hpp"
#include "gateway/replay/timeline.hpp"

#include <gtest/gtest.h>

namespace gateway::replay {
namespace counts_test {

using std::chrono::seconds;

TEST(client_counts, are_exact_while_there_is_room)
{
    client_counts counts;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        const std::uint64_t client = i % 100;
        counts.add({client, 0}, client == 7 && i > 5000, seconds{i}, [&] {
            return std::to_string(client);
        });
    }
    const auto busiest = counts.busiest(2);
    ASSERT_EQ(busiest.size(), 2U);
    EXPECT_EQ(busiest[0].client, "7");
    EXPECT_EQ(busiest[0].allowed, 50U);
    EXPECT_EQ(busiest[0].rejected, 50U);
    EXPECT_EQ(busiest[0].first_rejected, seconds{5007});
    EXPECT_EQ(busiest[0].last_rejected, seconds{9907});
    EXPECT_EQ(counts.size(), 100U);
    EXPECT_EQ(counts.rejected(), 1U);
    EXPECT_FALSE(counts.is_partial());
}

TEST(client_counts, keep_the_busy_ones_beyond_it)
{
    client_counts counts;
    for (int i = 0; i < 1000; ++i) {
        counts.add({1, 1}, false, seconds{0}, [] { return "busy"; });
    }
    for (std::uint64_t i = 0; i < 3 * client_counts::most; ++i) {
        counts.add({i + 10, 2}, false, seconds{0}, [] { return "once"; });
    }
    EXPECT_LE(counts.size(), client_counts::most);
    EXPECT_TRUE(counts.is_partial());
    EXPECT_EQ(counts.busiest(1)[0].client, "busy");
    EXPECT_EQ(counts.busiest(1)[0].allowed, 1000U);
}

TEST(timeline, widens_and_loses_nothing)
{
    timeline t;
    for (int i = 0; i < 86'400; ++i) {
        t.add(seconds{1000 + i}, i % 4 == 0 ? verdict::rejected : verdict::allowed);
    }
    EXPECT_LE(t.bins().size(), timeline::most);
    EXPECT_EQ(t.begin(), seconds{1000});
    std::uint64_t allowed = 0;
    std::uint64_t rejected = 0;
    for (const auto& b : t.bins()) {
        allowed += b[0];
        rejected += b[1];
    }
    EXPECT_EQ(allowed, 64'800U);
    EXPECT_EQ(rejected, 21'600U);
    EXPECT_GE(t.width() * timeline::most, seconds{86'400});
}

TEST(html_text, disarms_everything)
{
    std::string out;
    append_html(out, "<b a='x'>&\"\x01\n\u202e\u200b\xffä€");
    EXPECT_EQ(
        out, "&lt;b a=&#39;x&#39;&gt;&amp;&quot;\\x01\\x0a\\xe2\\x80\\xae\\xe2\\x80\\x8b\ufffdä€"
    );
    out.clear();
    append_html(out, "\u061c\u2060");
    EXPECT_EQ(out, "\\xd8\\x9c\\xe2\\x81\\xa0");
}

TEST(number_text, is_for_people)
{
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1'234'567), "1,234,567");
    EXPECT_EQ(percent(1, 3), "33 %");
    EXPECT_EQ(percent(1, 100), "1.0 %");
    EXPECT_EQ(percent(1, 1000), "0.10 %");
    EXPECT_EQ(percent(0, 0), "0 %");
    EXPECT_EQ(moment_text(seconds{1'795'860'000}), "2026-11-28 10:00:00");
    EXPECT_EQ(span_text(seconds{7200}), "2 h");
}

}  // namespace counts_test
}  // namespace gateway::replay
