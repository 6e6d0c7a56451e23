#include "gateway/store/redis/pending.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace gateway::store::redis {
namespace {

TEST(pending_commands, come_out_as_they_went_in_however_often_the_ring_has_turned)
{
    constexpr std::size_t capacity = 7;
    pending_commands pending{capacity};
    std::deque<std::int64_t> expected;
    std::int64_t number = 0;
    for (std::size_t round = 0; round < 50; ++round) {
        const std::size_t level = round * 5 % (capacity + 1);
        while (pending.size() < level) {
            expected.push_back(++number);
            pending.push().number = number;
        }
        while (pending.size() > level) {
            EXPECT_EQ(pending.front().number, expected.front());
            expected.pop_front();
            pending.pop();
        }
        EXPECT_EQ(pending.full(), level == capacity);
        EXPECT_EQ(pending.empty(), level == 0);
        for (std::size_t i = 0; i < level; ++i) {
            EXPECT_EQ(pending[i].number, expected[i]);
        }
    }
}

TEST(pending_commands, begin_clean_but_keep_their_memory)
{
    pending_commands pending{1};
    question* const nobody = nullptr;
    sent_command& first = pending.push();
    first.bytes.assign(1000, 'x');
    first.sent_again = true;
    pending.pop();
    sent_command& second = pending.push();
    EXPECT_EQ(second.asker, nobody);
    EXPECT_EQ(second.bytes, "");
    EXPECT_GE(second.bytes.capacity(), 1000U);
    EXPECT_FALSE(second.sent_again);
}

}  // namespace
}  // namespace gateway::store::redis
