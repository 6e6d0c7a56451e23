#include "gateway/proxy/pool/retry_budget.hpp"

#include <gtest/gtest.h>

namespace gateway::proxy {
namespace retry_budget_test {

using namespace std::chrono_literals;

int taken(retry_budget& b, base::instant now)
{
    int n = 0;
    while (n < 10'000 && b.take_retry(now, false)) {
        ++n;
    }
    return n;
}

TEST(retry_budget, permits_a_few_per_second_whatever_the_traffic)
{
    retry_budget b(20);
    base::instant now{1h};
    for (int second = 0; second < 5; ++second) {
        EXPECT_EQ(taken(b, now), static_cast<int>(retry_budget::per_second));
        EXPECT_EQ(taken(b, now + 999ms), 0);
        now += 1s;
    }
}

TEST(retry_budget, permits_a_share_of_the_requests)
{
    retry_budget b(20);
    const base::instant now{1h};
    taken(b, now);
    int retries = 0;
    for (int i = 0; i < 1000; ++i) {
        b.request();
        retries += b.take_retry(now, false) ? 1 : 0;
    }
    EXPECT_EQ(retries, 200);
}

TEST(retry_budget, saves_no_more_than_its_bound)
{
    retry_budget b(100);
    const base::instant now{1h};
    for (int i = 0; i < 100'000; ++i) {
        b.request();
    }
    EXPECT_EQ(taken(b, now), static_cast<int>(retry_budget::most_saved + retry_budget::per_second));
}

TEST(retry_budget, of_zero_permits_nothing)
{
    retry_budget b(0);
    b.request();
    for (const bool reused : {false, true}) {
        EXPECT_FALSE(b.take_retry(base::instant{1h}, reused));
    }
}

TEST(retry_budget, permits_every_retry_after_a_connection_that_had_served)
{
    retry_budget b(1);
    const base::instant now{1h};
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(b.take_retry(now, true));
    }
    EXPECT_EQ(taken(b, now), static_cast<int>(retry_budget::per_second)) << "it took nothing";
}

// Two servers share what is under way; one of them dies after a short time of service.
TEST(retry_budget, permits_all_that_a_dying_server_had)
{
    for (const int under_way : {100, 1000, 2000}) {
        retry_budget b(20);
        for (int i = 0; i < under_way * 5 / 2; ++i) {
            b.request();
        }
        EXPECT_GE(taken(b, base::instant{1h}), under_way / 2);
    }
}

}  // namespace retry_budget_test
}  // namespace gateway::proxy
