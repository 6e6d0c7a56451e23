#include "gateway/proxy/servers/wait_queue.hpp"

#include "gateway/proxy/servers/capacity_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace gateway::proxy {
namespace wait_queue_test {

class noting final : public wait_queue::entry {
public:
    std::atomic<int> woken{0};

    void wake() override
    {
        ++woken;
        woken.notify_one();
    }
};

class queue_of_three : public ::testing::Test {
protected:
    wait_queue q;
    noting a;
    noting b;
    noting c;

    void SetUp() override
    {
        for (noting* n : {&a, &b, &c}) {
            ASSERT_TRUE(q.enter(*n, 9));
        }
    }
};

TEST(wait_queue, wakes_each_once_in_the_order_in_which_they_came)
{
    wait_queue q;
    noting a;
    noting b;
    ASSERT_TRUE(q.enter(a, 9));
    ASSERT_TRUE(q.enter(b, 9));
    q.wake_first();
    EXPECT_EQ(a.woken, 1);
    EXPECT_EQ(b.woken, 0);
    q.wake_first();
    EXPECT_EQ(b.woken, 1);
    q.wake_first();
    EXPECT_EQ(a.woken + b.woken, 2);
    EXPECT_TRUE(q.take_wake_up(a));
    EXPECT_FALSE(q.take_wake_up(a));
    q.wake_first();  // it has not found what it was woken for
    EXPECT_EQ(a.woken, 2);
    q.leave(a);
    q.leave(b);
    EXPECT_TRUE(q.empty());
}

TEST_F(queue_of_three, wakes_the_next_when_one_leaves_that_was_woken)
{
    q.leave(b);  // was not
    EXPECT_EQ(a.woken + c.woken, 0);
    q.wake_first();
    q.leave(a);
    EXPECT_EQ(c.woken, 1);
    q.leave(c);
}

TEST_F(queue_of_three, wakes_the_next_behind_one_that_cannot_use_what_is_free)
{
    EXPECT_TRUE(q.is_first(a));
    q.wake_first();
    EXPECT_TRUE(q.take_wake_up(a));
    q.wake_next(a);
    EXPECT_EQ(a.woken, 1);
    EXPECT_EQ(b.woken, 1);
    q.wake_next(a);
    EXPECT_EQ(c.woken, 1);
    q.wake_next(c);  // there is nobody
    q.leave(a);
    EXPECT_TRUE(q.is_first(b));
    q.leave(b);
    q.leave(c);
    EXPECT_FALSE(q.is_first(c));
}

TEST(wait_queue, takes_no_more_than_it_may)
{
    wait_queue q;
    noting a;
    noting b;
    EXPECT_TRUE(q.enter(a, 1));
    EXPECT_FALSE(q.enter(b, 1));
    EXPECT_EQ(q.length(), 1U);
    q.leave(a);
    EXPECT_FALSE(q.enter(b, 0));
}

// Threads that take a place or wait for it, as pools do: nobody is forgotten.
TEST(wait_queue, forgets_nobody_whatever_the_threads_do)
{
    wait_queue q;
    capacity_count server_capacity;
    constexpr std::uint32_t most = 2;
    std::atomic<std::uint32_t> at_once{0};
    const auto free_capacity = [&] {
        --at_once;
        server_capacity.release();
        if (!q.empty()) {
            q.wake_first();
        }
    };
    const auto work = [&] {
        for (int i = 0; i < 20'000; ++i) {
            if (!q.empty() || !server_capacity.take(most)) {
                noting n;
                ASSERT_TRUE(q.enter(n, 100));
                q.wake_first();
                for (;;) {
                    n.woken.wait(0);
                    n.woken = 0;
                    if (q.take_wake_up(n) && server_capacity.take(most)) {
                        break;
                    }
                }
                q.leave(n);
                q.wake_first();
            }
            EXPECT_LE(++at_once, most);
            free_capacity();
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back(work);
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_TRUE(q.empty());
    EXPECT_EQ(server_capacity.taken(), 0U);
}

}  // namespace wait_queue_test
}  // namespace gateway::proxy
