// Questions that travel together are answered as the same questions one after the other.
#include "gateway/store/redis/protocol/command.hpp"
#include "tests/contract/subjects.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::store::testing {
namespace batch_test {

using std::chrono::hours;
using std::chrono::seconds;

class batches : public ::testing::Test {
protected:
    batches()
    {
        options.timeout = seconds{5};
        options.remember_rejections = false;  // so that every question is asked
    }

    redis_options options;
    // Slow enough that no token comes back meanwhile; the second is the first after a reload.
    const std::array<limit::limit, 3> limits{
        *limit::limit::make(1, hours{1}, 7),
        *limit::limit::make(1, hours{2}, 9),
        *limit::limit::make(1, hours{3}, 20)};
    static constexpr std::array<std::string_view, 4> narrow{"na", "nb", "nc", "nd"};
    static constexpr std::array<std::string_view, 4> wide{"wa", "wb", "wc", "wd"};

    std::vector<charge> draw_question(std::mt19937& random) const
    {
        std::vector<charge> charges;
        const std::size_t of_narrow =
            random() % 2;  // a question is asked before the reload, or after
        for (std::size_t count = 1 + random() % 3; count > 0; --count) {
            const std::size_t kind = random() % 2 == 0 ? 2 : of_narrow;
            const std::string_view name = kind == 2 ? "wide" : "narrow";
            const auto& buckets = kind == 2 ? wide : narrow;
            const std::int64_t cost = random() % 8 == 0 ? 30 : 1 + random() % 3;
            charges.push_back(
                {name,
                 base::hashed_name{buckets[random() % buckets.size()]},
                 &limits[kind],
                 cost,
                 random() % 4 != 0}
            );
        }
        return charges;
    }
};

TEST_F(batches, of_a_sliding_limit_wait_one_behind_the_other)
{
    redis_subject s{std::make_shared<redis_server>(), options};
    ASSERT_TRUE(s.becomes_healthy());
    const auto log = *limit::limit::sliding(2, std::chrono::minutes{2}, 0);
    const charge c{
        .limit_name = "l",
        .bucket_name = base::hashed_name{"one"},
        .limit = &log,
        .max_wait = limit::limit::max_wait,
        .max_reserved = 20};
    std::deque<asker> askers(7);
    for (asker& q : askers) {
        ASSERT_EQ(s.store().ask({&c, 1}, q), std::nullopt);
    }
    ASSERT_TRUE(run_until(s.io(), [&] { return askers.back().settled(); }));
    for (std::size_t i = 0; i < askers.size(); ++i) {
        ASSERT_TRUE(askers[i].got.has_value());
        const auto wait = askers[i].got->decisions()[0].retry_after;
        EXPECT_NEAR(static_cast<double>(wait / seconds{1}), static_cast<double>(i / 2 * 120), 5)
            << i;
    }
}

TEST_F(batches, may_come_from_before_and_after_a_changed_algorithm)
{
    redis_subject s{std::make_shared<redis_server>(), options};
    ASSERT_TRUE(s.becomes_healthy());
    const auto log = *limit::limit::sliding(5, hours{1}, 0);
    const auto permits = *limit::limit::in_flight(5, hours{1});
    std::deque<asker> askers(9);
    std::deque<charge> charges;
    for (std::size_t i = 0; i < askers.size(); ++i) {
        const std::array<const limit::limit*, 3> all{limits.data(), &log, &permits};
        charges.push_back(
            {.limit_name = "l",
             .bucket_name = base::hashed_name{"one"},
             .limit = all[i % 3],
             .permit = static_cast<std::int64_t>(i) + 1}
        );
        ASSERT_EQ(s.store().ask({&charges.back(), 1}, askers[i]), std::nullopt);
    }
    ASSERT_TRUE(run_until(s.io(), [&] { return askers.back().settled(); }));
    for (const asker& q : askers) {
        EXPECT_TRUE(q.got.has_value());
    }
}

TEST_F(batches, may_give_a_place_back_that_they_took)
{
    redis_subject s{std::make_shared<redis_server>(), options};
    ASSERT_TRUE(s.becomes_healthy());
    const auto one = *limit::limit::in_flight(1, hours{1});
    const limit::correction end;
    std::deque<asker> askers(6);
    std::deque<charge> charges;
    std::deque<std::string> receipts;
    for (std::size_t i = 0; i < askers.size(); ++i) {
        receipts.push_back("receipt " + std::to_string(i));
        const bool ends = i % 2 == 1;
        charges.push_back(
            {.limit_name = "l",
             .bucket_name = base::hashed_name{"one"},
             .limit = &one,
             .permit = static_cast<std::int64_t>(i / 2) + 1,
             .may_be_corrected = true,
             .correction = ends ? &end : nullptr,
             .receipt = ends ? std::string_view{receipts.back()} : std::string_view{}}
        );
        ASSERT_EQ(s.store().ask({&charges.back(), 1}, askers[i]), std::nullopt);
    }
    ASSERT_TRUE(run_until(s.io(), [&] { return askers.back().settled(); }));
    for (const asker& q : askers) {
        EXPECT_TRUE(q.got && q.got->admitted);
    }
    EXPECT_TRUE(s.take(std::vector{charges.front()})->admitted) << "all were given back";
}

// What is given back may be all that the list had.
TEST_F(batches, may_give_back_tokens_of_a_sliding_limit_and_take_others)
{
    const auto server = std::make_shared<redis_server>();
    redis_subject s{server, options};
    ASSERT_TRUE(s.becomes_healthy());
    const auto log = *limit::limit::sliding(3, hours{1}, 0);
    const limit::correction back{.of = {.held = 5'000'000}};
    const charge one{.limit_name = "l", .bucket_name = base::hashed_name{"one"}, .limit = &log};
    const charge elsewhere{.limit_name = "e", .bucket_name = base::hashed_name{"x"}, .limit = &log};
    std::deque<charge> backs(6, one);
    std::deque<std::string> receipts;
    int taken = 0;
    for (std::size_t round = 0; round < backs.size(); ++round) {
        taken += s.take(std::vector{one})->admitted ? 1 : 0;
        receipts.push_back("receipt " + std::to_string(round));
        backs[round].correction = &back;
        backs[round].receipt = receipts.back();
        // The first leaves alone; the others travel together, in both orders.
        std::deque<asker> askers(3);
        const std::array<const charge*, 2> both{&one, &backs[round]};
        ASSERT_EQ(s.store().ask({&elsewhere, 1}, askers[0]), std::nullopt);
        ASSERT_EQ(s.store().ask({both[round % 2], 1}, askers[1]), std::nullopt);
        ASSERT_EQ(s.store().ask({both[1 - round % 2], 1}, askers[2]), std::nullopt);
        ASSERT_TRUE(run_until(s.io(), [&] { return askers.back().settled(); }));
        for (const asker& q : askers) {
            ASSERT_TRUE(q.got.has_value()) << round;
        }
        taken += askers[1 + round % 2].got->admitted ? 1 : 0;
        taken -= 1;
        EXPECT_LE(taken, 3);
        EXPECT_EQ(server->command({"LLEN", key_of("gw:", one)}), std::to_string(1 + taken));
    }
}

// In one call with the grant: what was rejected before it must not be remembered beyond it.
TEST_F(batches, remember_no_rejection_that_a_grant_has_overtaken)
{
    options.remember_rejections = true;
    redis_subject s{std::make_shared<redis_server>(), options};
    ASSERT_TRUE(s.becomes_healthy());
    const auto one = *limit::limit::make(1, hours{1}, 1);
    const charge c{.limit_name = "l", .bucket_name = base::hashed_name{"one"}, .limit = &one};
    const charge other{.limit_name = "l", .bucket_name = base::hashed_name{"other"}, .limit = &one};
    const charge third{.limit_name = "l", .bucket_name = base::hashed_name{"third"}, .limit = &one};
    const limit::correction reset{.what = limit::correction::kind::reset};
    charge grant = c;
    grant.correction = &reset;
    grant.receipt = "receipt";
    grant.is_grant = true;
    ASSERT_TRUE(s.take(std::vector{c})->admitted);
    std::deque<asker> askers(3);
    ASSERT_EQ(s.store().ask({&other, 1}, askers[0]), std::nullopt);
    ASSERT_EQ(s.store().ask({&c, 1}, askers[1]), std::nullopt);
    ASSERT_EQ(s.store().ask({&grant, 1}, askers[2]), std::nullopt);
    ASSERT_TRUE(run_until(s.io(), [&] { return askers.back().settled(); }));
    ASSERT_TRUE(s.take(std::vector{third})->admitted);
    answer known;
    EXPECT_FALSE(s.store().recalls({&c, 1}, base::now(), known));
    EXPECT_TRUE(s.take(std::vector{c})->admitted);
}

TEST_F(batches, fail_alone_where_a_value_is_damaged)
{
    const auto server = std::make_shared<redis_server>();
    redis_subject s{server, options};
    ASSERT_TRUE(s.becomes_healthy());
    const auto log = *limit::limit::sliding(3, hours{1}, 0);
    const charge bad{.limit_name = "t", .bucket_name = base::hashed_name{"x"}, .limit = &limits[0]};
    const charge bad_list{.limit_name = "l", .bucket_name = base::hashed_name{"x"}, .limit = &log};
    const charge good{
        .limit_name = "g", .bucket_name = base::hashed_name{"x"}, .limit = &limits[0]};
    for (const charge* c : {&bad, &bad_list, &good}) {
        ASSERT_TRUE(s.take(std::vector{*c})->admitted);
    }
    const std::string value = server->command({"GET", key_of("gw:", bad)});
    const std::string damaged = "abcdefghijklmnop" + value.substr(16);
    server->command({"SET", key_of("gw:", bad), damaged});
    server->command({"RPUSH", key_of("gw:", bad_list), "h 1 1"});
    std::deque<asker> askers(4);
    const std::array<const charge*, 4> all{&good, &bad, &bad_list, &good};
    for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(s.store().ask({all[i], 1}, askers[i]), std::nullopt);
    }
    ASSERT_TRUE(run_until(s.io(), [&] { return askers.back().settled(); }));
    EXPECT_TRUE(askers[0].got && askers[3].got);
    EXPECT_EQ(askers[1].why, failure::corrupt);
    EXPECT_EQ(askers[2].why, failure::corrupt);
}

TEST_F(batches, are_answered_as_one_question_after_the_other)
{
    const auto server = std::make_shared<redis_server>();
    redis_subject s{server, options};
    ASSERT_TRUE(s.becomes_healthy());
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937 random{seed};
        memory_store model{memory_options{.max_buckets = 1000}};
        server->command({"FLUSHALL"});
        std::vector<std::vector<charge>> questions;
        for (std::size_t count = 1 + random() % 200; count > 0; --count) {
            const bool again = !questions.empty() && random() % 3 == 0;
            questions.push_back(again ? questions.back() : draw_question(random));
        }
        std::deque<asker> askers(questions.size());
        for (std::size_t i = 0; i < questions.size(); ++i) {
            ASSERT_EQ(s.store().ask(questions[i], askers[i]), std::nullopt);
        }
        ASSERT_TRUE(run_until(s.io(), [&] { return askers.back().settled(); }));
        for (std::size_t i = 0; i < questions.size(); ++i) {
            answer expected;
            ASSERT_TRUE(model.take(questions[i], base::now(), expected));
            ASSERT_TRUE(askers[i].got.has_value());
            EXPECT_EQ(askers[i].got->admitted, expected.admitted) << seed << "/" << i;
            for (std::size_t j = 0; j < questions[i].size(); ++j) {
                const auto& got = askers[i].got->decisions()[j];
                EXPECT_EQ(got.allowed, expected.decisions()[j].allowed) << seed << "/" << i;
                EXPECT_EQ(got.remaining, expected.decisions()[j].remaining) << seed << "/" << i;
            }
        }
    }
    EXPECT_LT(s.metrics().requests.value(), 60U * 6) << "they travelled together";
}

TEST_F(batches, never_let_more_pass_than_a_bucket_holds)
{
    redis_subject s{std::make_shared<redis_server>(), options};
    ASSERT_TRUE(s.becomes_healthy());
    const charge c{.limit_name = "l", .bucket_name = base::hashed_name{"hot"}, .limit = &limits[0]};
    std::vector<asker> askers(5000);
    for (asker& a : askers) {
        ASSERT_EQ(s.store().ask({&c, 1}, a), std::nullopt);
    }
    ASSERT_TRUE(run_until(s.io(), [&] { return askers.back().settled(); }));
    std::int64_t left = 7;
    for (const asker& a : askers) {
        ASSERT_TRUE(a.got.has_value());
        ASSERT_EQ(a.got->admitted, left > 0) << "first come, first served";
        left -= a.got->admitted ? 1 : 0;
        ASSERT_EQ(a.got->decisions()[0].remaining, left);
    }
}

std::string key_of_bad()
{
    const charge bad{.limit_name = "l", .bucket_name = base::hashed_name{"bad"}};
    return key_of(redis_options{}.key_prefix, bad);
}

TEST_F(batches, a_key_that_holds_something_else_fails_its_own_questions_only)
{
    const auto server = std::make_shared<redis_server>();
    redis_subject s{server, options};
    ASSERT_TRUE(s.becomes_healthy());
    const charge good{
        .limit_name = "l", .bucket_name = base::hashed_name{"good"}, .limit = &limits[0]};
    const charge bad{
        .limit_name = "l", .bucket_name = base::hashed_name{"bad"}, .limit = &limits[0]};
    const std::array<charge, 2> both{good, bad};
    charge nothing = bad;
    nothing.cost = 0;
    charge too_much = bad;
    too_much.cost = 1000;
    for (const std::vector<std::string>& spoil :
         {std::vector<std::string>{"SET", key_of_bad(), "x"},
          std::vector<std::string>{"LPUSH", key_of_bad(), "x"}}) {
        server->command({"DEL", key_of_bad()});
        server->command(spoil);
        std::deque<asker> askers(7);
        ASSERT_EQ(s.store().ask({&good, 1}, askers[0]), std::nullopt);
        ASSERT_EQ(s.store().ask({&bad, 1}, askers[1]), std::nullopt);
        ASSERT_EQ(s.store().ask(both, askers[2]), std::nullopt);
        ASSERT_EQ(s.store().ask({&good, 1}, askers[3]), std::nullopt);
        ASSERT_EQ(s.store().ask({&bad, 1}, askers[4]), std::nullopt);
        ASSERT_EQ(s.store().ask({&nothing, 1}, askers[5]), std::nullopt);
        ASSERT_EQ(s.store().ask({&too_much, 1}, askers[6]), std::nullopt);
        ASSERT_TRUE(run_until(s.io(), [&] { return askers.back().settled(); }));
        for (const std::size_t i : {1U, 2U, 4U, 5U, 6U}) {
            EXPECT_EQ(askers[i].why, failure::corrupt) << spoil[0] << i;
        }
        ASSERT_TRUE(askers[0].got && askers[3].got);
        EXPECT_EQ(
            askers[3].got->decisions()[0].remaining, askers[0].got->decisions()[0].remaining - 1
        ) << "nothing was taken by the question between them";
    }
}

// Also of requests that take nothing, whatever they cost.
TEST_F(batches, know_what_is_owed_to_a_limit_that_was_a_sliding_one)
{
    redis_subject s{std::make_shared<redis_server>(), options};
    ASSERT_TRUE(s.becomes_healthy());
    const auto log = *limit::limit::sliding(5, hours{1}, 0);
    const auto bucket = *limit::limit::make(1, hours{1}, 5);
    const charge before{
        .limit_name = "l", .bucket_name = base::hashed_name{"one"}, .limit = &log, .cost = 3};
    ASSERT_TRUE(s.take(std::vector{before})->admitted);
    for (const std::int64_t cost : {0, 6}) {
        const charge after{
            .limit_name = "l",
            .bucket_name = base::hashed_name{"one"},
            .limit = &bucket,
            .cost = cost};
        const auto got = s.take(std::vector{after});
        ASSERT_TRUE(got.has_value());
        EXPECT_EQ(got->admitted, cost == 0);
        EXPECT_EQ(got->decisions()[0].remaining, 2) << cost;
    }
}

}  // namespace batch_test
}  // namespace gateway::store::testing
