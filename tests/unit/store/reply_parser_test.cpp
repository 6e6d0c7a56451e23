// What a store told of its buckets, and what follows for each question.
#include "gateway/store/remote/reply_parser.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace gateway::store {
namespace reply_parser_test {

using kind = call_results::kind;

// Twice a bucket of five a second, asked for two tokens at a time, which owes three or nothing.
TEST(reply_parser, knows_the_rest_of_usual_answers)
{
    const std::vector<simple_charges> shape{
        {.times = 3, .enforced = true, .cost = 2, .interval = 1'000'000, .burst = 5, .keys = 2}};
    const std::vector<std::int64_t> numbers{7, 0, 3'000'000, 0};
    reply_parser reply{numbers, shape};
    answer a;
    const auto next = [&] {
        EXPECT_EQ(reply.next(1, a), kind::answer);
        return a.decisions()[0];
    };
    auto d = next();
    EXPECT_TRUE(d.allowed);
    EXPECT_EQ(d.remaining, 0);
    EXPECT_EQ(d.reset_after, std::chrono::seconds{5});
    for (int i = 0; i < 2; ++i) {
        d = next();
        EXPECT_FALSE(d.allowed);
        EXPECT_FALSE(a.admitted);
        EXPECT_EQ(d.retry_after, std::chrono::seconds{2});
    }
    EXPECT_EQ(next().remaining, 3);
    EXPECT_EQ(next().remaining, 1);
    EXPECT_FALSE(reply.ended());
    d = next();
    EXPECT_FALSE(d.allowed);
    EXPECT_EQ(d.retry_after, std::chrono::seconds{1});
    EXPECT_TRUE(reply.ended());
    EXPECT_EQ(reply.next(1, a), kind::garbage);
}

// Three numbers are of a banned bucket, which is told alike however often it was asked.
TEST(reply_parser, knows_banned_buckets)
{
    const std::vector<simple_charges> shape{
        {.times = 2, .enforced = true, .cost = 2, .interval = 1'000'000, .burst = 5, .keys = 2}};
    const std::vector<std::int64_t> numbers{7, 0, -2, 1'000'000, 9'000'000, -2, 4'000'000, 500'000};
    reply_parser reply{numbers, shape};
    answer a;
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(reply.next(1, a), kind::answer);
        const limit::decision& d = a.decisions()[0];
        EXPECT_FALSE(a.admitted);
        EXPECT_FALSE(d.allowed);
        EXPECT_TRUE(d.banned);
        EXPECT_EQ(d.remaining, i < 2 ? 4 : 1);
        EXPECT_EQ(d.retry_after, std::chrono::seconds{i < 2 ? 9 : 1}) << "or when tokens are there";
        EXPECT_EQ(d.reset_after, std::chrono::seconds{i < 2 ? 1 : 4});
    }
    EXPECT_TRUE(reply.ended());
}

TEST(reply_parser, takes_no_nonsense)
{
    const std::vector<simple_charges> shape{
        {.times = 1, .enforced = true, .cost = 1, .interval = 1'000'000, .burst = 5, .keys = 1}};
    const std::vector<std::vector<std::int64_t>> bad{
        {7, 0}, {7, 0, -2}, {7, 0, -2, 0}, {7, 0, -2, -1, 5}, {7, 0, -2, 5, -1}, {7, 0, -3}};
    for (const auto& numbers : bad) {
        reply_parser reply{numbers, shape};
        answer a;
        EXPECT_EQ(reply.next(1, a), kind::garbage);
    }
    EXPECT_FALSE((reply_parser{std::vector<std::int64_t>{}, shape}.begins()));
    const std::vector<std::int64_t> more{7, 0, 0, 9};
    reply_parser reply{more, shape};
    answer a;
    EXPECT_EQ(reply.next(1, a), kind::answer);
    EXPECT_FALSE(reply.ended());
}

// As after a row was changed by hand. Other buckets' answers are none the worse.
TEST(reply_parser, of_a_bucket_with_impossible_numbers_is_corrupt)
{
    const std::vector<simple_charges> shape{
        {.times = 1, .enforced = true, .cost = 1, .interval = 1'000'000, .burst = 5, .keys = 2}};
    const std::vector<std::int64_t> numbers{7, 0, 9'007'199'254'740'991, 0};
    reply_parser reply{numbers, shape};
    answer a;
    EXPECT_EQ(reply.next(1, a), kind::corrupt);
    EXPECT_EQ(reply.next(1, a), kind::answer);
    EXPECT_EQ(a.decisions()[0].remaining, 4);
    EXPECT_TRUE(reply.ended());
    const std::vector<simple_charges> other{{.times = 1, .keys = 0}};
    const std::vector<std::int64_t> two{7, 0, 0, 0, 0, 9'007'199'254'740'991, 0, 0, 1, 0, 9};
    reply_parser any{two, other};
    EXPECT_EQ(any.next(2, a), kind::corrupt);
    EXPECT_TRUE(any.ended());
}

}  // namespace reply_parser_test
}  // namespace gateway::store
