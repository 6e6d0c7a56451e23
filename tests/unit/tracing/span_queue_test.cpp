#include "gateway/tracing/span_queue.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace gateway::tracing {
namespace span_queue_test {

std::vector<span> some(std::size_t count)
{
    return std::vector<span>(count);
}

TEST(span_queue, gives_spans_in_batches_and_in_order)
{
    span_queue queue;
    for (std::uint64_t i = 0; i < max_batch_spans + 3; ++i) {
        queue.add({span{.id = i}});
    }
    const auto first = queue.take();
    ASSERT_EQ(first.size(), max_batch_spans);
    EXPECT_EQ(first.front().id, 0U);
    const auto rest = queue.take();
    ASSERT_EQ(rest.size(), 3U);
    EXPECT_EQ(rest.front().id, max_batch_spans);
    EXPECT_TRUE(queue.take().empty());
    EXPECT_EQ(queue.dropped(), 0U);
}

TEST(span_queue, drops_all_spans_of_a_request_for_which_there_is_no_room)
{
    span_queue queue;
    queue.add(some(max_queued_spans - 1));
    queue.add(some(2));
    EXPECT_EQ(queue.dropped(), 2U);
    queue.add(some(1));
    EXPECT_EQ(queue.dropped(), 2U);
    queue.add(some(1));
    EXPECT_EQ(queue.dropped(), 3U);
}

TEST(span_queue, loses_none_of_several_workers)
{
    span_queue queue;
    std::vector<std::thread> workers;
    for (int w = 0; w < 3; ++w) {
        workers.emplace_back([&queue] {
            for (int i = 0; i < 2000; ++i) {
                queue.add(some(1));
            }
        });
    }
    for (std::thread& w : workers) {
        w.join();
    }
    std::size_t taken = 0;
    for (auto batch = queue.take(); !batch.empty(); batch = queue.take()) {
        taken += batch.size();
    }
    EXPECT_EQ(taken, 6000U);
}

}  // namespace span_queue_test
}  // namespace gateway::tracing
