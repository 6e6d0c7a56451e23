#include "gateway/http2/frame_budget.hpp"

#include <gtest/gtest.h>

namespace gateway::http2 {
namespace {

using namespace std::chrono_literals;

constexpr base::instant start{1h};

int taken(frame_budget& budget, base::instant now, bool (frame_budget::*take)(base::instant))
{
    int n = 0;
    while (n < 100'000 && (budget.*take)(now)) {
        ++n;
    }
    return n;
}

TEST(FrameBudget, AllowsABurstOfResetsAndThenARate)
{
    frame_budget budget(start);
    EXPECT_EQ(taken(budget, start, &frame_budget::take_reset), 1000);
    EXPECT_EQ(taken(budget, start + 1s, &frame_budget::take_reset), 32);  // one is owed
    EXPECT_EQ(taken(budget, start + 1h, &frame_budget::take_reset), 1000);
}

TEST(FrameBudget, AllowsFramesWithoutWorkByTimeRequestsAndContent)
{
    frame_budget budget(start);
    EXPECT_EQ(taken(budget, start, &frame_budget::take_idle_frame), 1000);
    budget.request_came();
    EXPECT_EQ(taken(budget, start, &frame_budget::take_idle_frame), 9);
    budget.content_sent();
    EXPECT_EQ(taken(budget, start, &frame_budget::take_idle_frame), 2);
    EXPECT_EQ(taken(budget, start + 1s, &frame_budget::take_idle_frame), 99);
}

TEST(FrameBudget, KeepsNoMoreThanABurst)
{
    frame_budget budget(start);
    for (int i = 0; i < 1000; ++i) {
        budget.request_came();
        budget.content_sent();
    }
    EXPECT_EQ(taken(budget, start, &frame_budget::take_idle_frame), 1000);
}

TEST(FrameBudget, IsNotFilledByAClockThatStands)
{
    frame_budget budget(start);
    taken(budget, start, &frame_budget::take_reset);
    EXPECT_FALSE(budget.take_reset(start - 1s));
}

}  // namespace
}  // namespace gateway::http2
