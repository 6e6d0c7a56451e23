#include "gateway/client/peer_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace gateway::client {
namespace peer_count_test {

base::ip_address peer(std::uint32_t n)
{
    return base::ip_address::v4(0x7f00'0000U + n);
}

TEST(peer_count, lets_each_peer_have_so_many_and_one_more_when_one_leaves)
{
    peer_count count;
    EXPECT_TRUE(count.enter(peer(1), 2));
    EXPECT_TRUE(count.enter(peer(1), 2));
    EXPECT_FALSE(count.enter(peer(1), 2));
    EXPECT_TRUE(count.enter(peer(2), 2)) << "another peer's connections are no matter";
    count.leave(peer(1));
    EXPECT_TRUE(count.enter(peer(1), 2));
    EXPECT_FALSE(count.enter(peer(1), 2));
}

TEST(peer_count, a_bound_that_changes_counts_what_is_open)
{
    peer_count count;
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(count.enter(peer(1), 5));
    }
    EXPECT_FALSE(count.enter(peer(1), 3)) << "lowered";
    EXPECT_TRUE(count.enter(peer(1), 6)) << "raised";
}

TEST(peer_count, remembers_nobody_who_has_no_connection)
{
    peer_count count;
    EXPECT_FALSE(count.enter(peer(1), 0));
    EXPECT_EQ(count.peers(), 0U);
    std::mt19937 random(7);
    std::map<std::uint32_t, std::size_t> open;
    for (int step = 0; step < 20'000; ++step) {
        const auto who = static_cast<std::uint32_t>(random() % 100);
        if (random() % 2 == 0) {
            const bool in = count.enter(peer(who), 4);
            EXPECT_EQ(in, open[who] < 4);
            open[who] += in ? 1 : 0;
        } else if (open[who] > 0) {
            count.leave(peer(who));
            --open[who];
        }
    }
    std::erase_if(open, [](const auto& one) { return one.second == 0; });
    EXPECT_EQ(count.peers(), open.size());
}

TEST(peer_count, keeps_its_bound_when_threads_come_and_go_at_once)
{
    peer_count count;
    std::vector<std::thread> threads;
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 5'000; ++i) {
                if (count.enter(peer(1), 2)) {
                    const int now = ++inside;
                    int seen = most;
                    while (now > seen && !most.compare_exchange_weak(seen, now)) {
                    }
                    --inside;
                    count.leave(peer(1));
                }
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_LE(most, 2);
    EXPECT_EQ(count.peers(), 0U);
}

}  // namespace peer_count_test
}  // namespace gateway::client
