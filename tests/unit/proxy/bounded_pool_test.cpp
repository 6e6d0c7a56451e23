// Pools whose servers take only so many requests at a time: who comes then waits in the queue of
// all workers.
#include "tests/unit/proxy/pool_fixture.hpp"

namespace gateway::proxy {
namespace bounded_pool_test {

using testing::closed_port;
using testing::loopback_server;
using testing::pools;
using testing::run_until;
using testing::waiting;

class bounded_pools : public pools {
protected:
    void make_bounded(std::uint32_t most, std::uint32_t most_waiting = 1000)
    {
        auto o = of({at(server.port())});
        o.servers[0].max_connections = most;
        o.max_queue = most_waiting;
        make(o);
    }

    void make_two_of_one_place(const loopback_server& other)
    {
        auto o = of({at(server.port()), at(other.port())});
        o.servers[0].max_connections = 1;
        o.servers[1].max_connections = 1;
        make(o);
    }
};

TEST_F(bounded_pools, make_the_next_one_wait_until_a_place_is_free)
{
    make_bounded(1);
    upstream_connection& first = connected();
    waiting second;
    waiting third;
    ASSERT_TRUE(pends(second, {}));
    ASSERT_TRUE(pends(third, {}));
    EXPECT_EQ(upstream.queued.value(), 2);
    EXPECT_EQ(in_use(), 1);
    let_happen();
    p->release(first, keep);
    let_happen();
    EXPECT_EQ(second.got, &first);
    EXPECT_FALSE(third.done());
    p->release(first, keep);
    let_happen();
    EXPECT_EQ(third.got, &first);
    EXPECT_EQ(upstream.queued.value(), 0);
}

TEST_F(bounded_pools, do_not_let_anybody_overtake_who_waits)
{
    make_bounded(1);
    upstream_connection& first = connected();
    waiting second;
    ASSERT_TRUE(pends(second, {}));
    p->release(first, keep);
    waiting late;
    ASSERT_TRUE(pends(late, {}));  // though there is a place, and an idle connection
    run_until(loop, [&] { return second.done(); });
    EXPECT_FALSE(late.done());
}

TEST_F(bounded_pools, pass_the_place_on_when_who_was_woken_for_it_has_left)
{
    make_bounded(1);
    upstream_connection& first = connected();
    std::optional<waiting> leaves(std::in_place);
    waiting stays;
    ASSERT_TRUE(pends(*leaves, {}));
    ASSERT_TRUE(pends(stays, {}));
    p->release(first, keep);
    leaves.reset();
    run_until(loop, [&] { return stays.done(); });
    EXPECT_EQ(stays.got, &first);
}

TEST_F(bounded_pools, let_nobody_wait_for_longer_than_the_queue_timeout)
{
    queue_timeout = std::chrono::milliseconds{100};
    make_bounded(1);
    connected();
    waiting w;
    ASSERT_TRUE(pends(w));
    run_until(loop, [&] { return w.done(); });
    EXPECT_EQ(w.failed, failure::queue_timeout);
    EXPECT_EQ(failures(failure::queue_timeout), 1U);
    EXPECT_EQ(upstream.queued.value(), 0);
    EXPECT_EQ(status->queue().length(), 0U);
}

TEST_F(bounded_pools, let_no_more_wait_than_may)
{
    make_bounded(1, 1);
    connected();
    waiting w;
    waiting one_too_many;
    ASSERT_TRUE(pends(w));
    EXPECT_EQ(p->lease(one_too_many, {}).failed, failure::queue_full);
    EXPECT_EQ(failures(failure::queue_full), 1U);
}

TEST_F(bounded_pools, free_the_place_of_a_connection_that_cannot_be_made)
{
    auto o = of({at(testing::closed_port())});
    o.max_connections = 1;
    make(o);
    for (int i = 0; i < 3; ++i) {
        waiting w;
        ASSERT_TRUE(pends(w));
        run_until(loop, [&] { return w.done(); });
        EXPECT_EQ(w.failed, failure::connect);
    }
    EXPECT_EQ(status->capacity().taken(), 0U);
}

TEST_F(bounded_pools, refuse_at_once_who_has_passed_over_every_server_though_others_wait)
{
    make_bounded(1);
    connected();
    waiting queued;
    waiting refused;
    ASSERT_TRUE(pends(queued));
    EXPECT_EQ(
        p->lease(refused, {.passed_over = 1, .last_failure = failure::connect}).failed,
        failure::connect
    );
    EXPECT_EQ(upstream.queued.value(), 1);
}

TEST_F(bounded_pools, leave_a_place_to_the_next_that_the_first_must_not_use)
{
    loopback_server other;
    make_two_of_one_place(other);
    std::array<upstream_connection*, 2> busy{};
    for (int i = 0; i < 2; ++i) {
        upstream_connection& c = connected();
        busy[c.server()] = &c;
    }
    waiting has_passed_over;
    waiting next;
    ASSERT_TRUE(pends(has_passed_over, {.passed_over = 1}));
    ASSERT_TRUE(pends(next, {}));
    let_happen();
    p->release(*busy[0], keep);
    let_happen();
    EXPECT_EQ(next.got, busy[0]);
    EXPECT_FALSE(has_passed_over.done());
    p->release(*busy[1], keep);
    let_happen();
    EXPECT_EQ(has_passed_over.got, busy[1]);
}

TEST_F(bounded_pools, use_a_server_that_is_back_though_nobody_gave_a_place_up)
{
    loopback_server other;
    make_two_of_one_place(other);
    const auto sick = status->server(to_text(at(other.port()).address));
    sick->set_healthy(false);
    EXPECT_EQ(connected().server(), 0U);
    waiting w;
    ASSERT_TRUE(pends(w));
    let_happen();
    EXPECT_FALSE(w.done());
    sick->set_healthy(true);
    run_until(loop, [&] { return w.done(); });
    ASSERT_NE(w.got, nullptr);
    EXPECT_EQ(w.got->server(), 1U);
}

TEST_F(bounded_pools, share_the_bound_with_the_pools_of_other_workers)
{
    make_bounded(1);
    net::loop other_loop;
    telemetry::server_metrics other_server;
    auto o = of({at(server.port())});
    o.servers[0].max_connections = 1;
    pool other(
        other_loop,
        o,
        status,
        static_cast<unsigned short>(0),
        pool_metrics{upstream, worker, {&other_server}}
    );
    upstream_connection& first = connected();
    waiting w;
    EXPECT_EQ(other.lease(w, {}).carrier, nullptr);
    EXPECT_EQ(upstream.queued.value(), 1);
    other_loop.context().poll();
    p->release(first, keep);
    run_until(other_loop, [&] { return w.done(); });
    ASSERT_NE(w.got, nullptr);
    other.close();
    run_until(other_loop, [&] { return other.empty(); });
}

}  // namespace bounded_pool_test
}  // namespace gateway::proxy
