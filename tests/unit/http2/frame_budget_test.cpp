#include "gateway/http2/frame_budget.hpp"

#include <gtest/gtest.h>

namespace gateway::http2 {
namespace frame_budget_test {

using namespace std::chrono_literals;

constexpr base::instant start{1h};

bool take_reset(frame_budget& budget, base::instant now)
{
    return budget.take_reset(now);
}

bool take_idle(frame_budget& budget, base::instant now)
{
    return budget.take_idle_frame(now, 1);
}

int taken(frame_budget& budget, base::instant now, bool (*take)(frame_budget&, base::instant))
{
    int n = 0;
    while (n < 100'000 && take(budget, now)) {
        ++n;
    }
    return n;
}

TEST(frame_budget, allows_a_burst_of_resets_and_then_a_rate)
{
    frame_budget budget(start);
    EXPECT_EQ(taken(budget, start, take_reset), 1000);
    EXPECT_EQ(taken(budget, start + 1s, take_reset), 32);  // one is owed
    EXPECT_EQ(taken(budget, start + 1h, take_reset), 1000);
}

TEST(frame_budget, allows_frames_without_work_by_time_requests_and_content)
{
    frame_budget budget(start);
    EXPECT_EQ(taken(budget, start, take_idle), 1000);
    budget.request_came();
    EXPECT_EQ(taken(budget, start, take_idle), 9);
    budget.content_sent();
    EXPECT_EQ(taken(budget, start, take_idle), 2);
    EXPECT_EQ(taken(budget, start + 1s, take_idle), 99);
}

TEST(frame_budget, takes_a_frame_that_costs_as_much_as_several)
{
    frame_budget budget(start);
    EXPECT_TRUE(budget.take_idle_frame(start, 990));
    EXPECT_EQ(taken(budget, start, take_idle), 10);
    EXPECT_FALSE(budget.take_idle_frame(start, 1000));
}

TEST(frame_budget, keeps_no_more_than_a_burst)
{
    frame_budget budget(start);
    for (int i = 0; i < 1000; ++i) {
        budget.request_came();
        budget.content_sent();
    }
    EXPECT_EQ(taken(budget, start, take_idle), 1000);
}

TEST(frame_budget, is_not_filled_by_a_clock_that_stands)
{
    frame_budget budget(start);
    taken(budget, start, take_reset);
    EXPECT_FALSE(budget.take_reset(start - 1s));
}

}  // namespace frame_budget_test
}  // namespace gateway::http2
