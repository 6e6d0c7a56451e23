// Two processes that decide by the same buckets, and what one alone would have decided.
#include "gateway/store/memory/memory_snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace gateway::store {
namespace memory_handover_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The store of another process, without the way there.
class neighbour final : public bucket_keeper {
public:
    explicit neighbour(memory_store& s) : store_(s) {}

    void lock() override
    {
        while (held_.test_and_set()) {
            std::this_thread::yield();
        }
    }

    void unlock() override
    {
        store_.end_swap();
        held_.clear();
    }

    std::optional<std::string> ask(std::string_view request) override
    {
        ++asked;
        return gone ? std::nullopt : std::optional{store_.answer_swap(request)};
    }

    std::atomic<int> asked = 0;
    bool gone = false;

private:
    memory_store& store_;
    std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

class handovers : public ::testing::Test {
protected:
    const limit::limit tokens = *limit::limit::make(100, seconds{1}, 5);
    const limit::limit slow = *limit::limit::make(1, hours{1}, 500);
    const limit::limit log = *limit::limit::sliding(5, milliseconds{200}, 0);
    const limit::limit quota =
        *limit::limit::in_windows({.count = 5, .length = milliseconds{300}, .capacity = 5});
    const limit::limit places = *limit::limit::in_flight(3, seconds{10});
    const limit::penalty ban{
        .after = 3, .within = seconds{1}, .ban = milliseconds{50}, .max_ban = seconds{1}};

    memory_store before{{.max_buckets = 1000}};
    memory_store after{{.max_buckets = 500}};
    neighbour keeper{after};
    base::instant now = base::now();

    static charge of(const limit::limit& l, std::string_view bucket)
    {
        return {.limit_name = "l", .bucket_name = base::hashed_name{bucket}, .limit = &l};
    }

    void move_buckets()
    {
        before.leave();
        const int file = ::memfd_create("buckets", MFD_CLOEXEC);
        ASSERT_EQ(hand_over(before, file), std::nullopt);
        const auto read = take_over(after, file);
        ::close(file);
        ASSERT_TRUE(read && read->complaint.empty());
        before.follow(keeper);
    }

    bool takes(memory_store& s, const charge& c) const
    {
        answer a;
        return s.take({&c, 1}, now, a) && a.admitted;
    }

    // With more clients than a table of 16 buckets has room for.
    void fill(memory_store& s) const
    {
        for (int i = 0; i < 100; ++i) {
            const std::string name = "client " + std::to_string(i);
            takes(s, of(slow, name));
        }
    }
};

bool same(const answer& a, const answer& b)
{
    return a.admitted == b.admitted &&
           std::equal(
               a.decisions().begin(),
               a.decisions().end(),
               b.decisions().begin(),
               b.decisions().end(),
               [](const limit::decision& x, const limit::decision& y) {
                   return x.allowed == y.allowed && x.banned == y.banned &&
                          x.remaining == y.remaining && x.retry_after == y.retry_after &&
                          x.reset_after == y.reset_after;
               }
           );
}

TEST_F(handovers, leave_nobody_a_token_more)
{
    const charge c = of(slow, "a");
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(takes(before, c));
    }
    move_buckets();
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(takes(before, c)) << i;
        ASSERT_TRUE(takes(after, c)) << i;
    }
    EXPECT_FALSE(takes(before, c));
    EXPECT_FALSE(takes(after, c));
}

TEST_F(handovers, end_where_the_first_process_has_no_room_for_what_comes_back)
{
    memory_store small{{.max_buckets = 16}};
    charge other = of(tokens, "b");
    other.limit_name = "other";
    small.leave();
    small.follow(keeper);
    EXPECT_TRUE(takes(small, other)) << "it has its place";
    fill(small);
    const charge c = of(slow, "only there");
    ASSERT_TRUE(takes(after, c));
    const std::array<charge, 2> both{other, c};
    int passed = 0;
    for (int i = 0; i < 20; ++i) {
        answer a;
        passed += small.take(both, now, a) && a.admitted ? 1 : 0;
    }
    EXPECT_EQ(passed, 4) << "the other limit is the same for both";
    EXPECT_FALSE(takes(after, other));
}

TEST_F(handovers, give_no_token_more_where_the_next_process_has_no_room)
{
    memory_store small{{.max_buckets = 16}};
    neighbour cramped{small};
    before.leave();
    before.follow(cramped);
    fill(small);
    const charge c = of(slow, "only here");
    int passed = 0;
    for (int i = 0; i < 600; ++i) {
        passed += takes(before, c) ? 1 : 0;
    }
    EXPECT_EQ(passed, 500);
}

TEST_F(handovers, keep_requests_in_flight)
{
    const charge c = of(places, "a");
    const auto taken = [&](memory_store& s) {
        answer a;
        EXPECT_TRUE(s.take({&c, 1}, now, a));
        return a;
    };
    answer old = taken(before);
    move_buckets();
    const answer late = taken(before);
    const answer fresh = taken(after);
    EXPECT_TRUE(old.admitted && late.admitted && fresh.admitted);
    EXPECT_FALSE(taken(after).admitted);
    EXPECT_FALSE(taken(before).admitted);
    before.refund({&c, 1}, old, now);
    EXPECT_TRUE(taken(after).admitted) << "a place that was given back there is free here";
    after.refund({&c, 1}, fresh, now);
    before.refund({&c, 1}, late, now);
    EXPECT_TRUE(taken(before).admitted);
    EXPECT_TRUE(taken(after).admitted);
    EXPECT_FALSE(taken(after).admitted);
}

TEST_F(handovers, free_the_places_of_a_process_that_ends_before_its_requests)
{
    const auto take = [&](memory_store& s, std::string_view bucket) {
        const charge c = of(places, bucket);
        answer a;
        EXPECT_TRUE(s.take({&c, 1}, now, a) && a.admitted);
        return a;
    };
    const auto has_room = [&](std::string_view bucket) {
        const charge c = of(places, bucket);
        int room = 0;
        for (answer a; after.take({&c, 1}, now, a) && a.admitted; ++room) {
        }
        return room;
    };
    take(before, "a");
    const answer old = take(before, "a");
    take(before, "b");
    move_buckets();
    const charge c = of(places, "a");
    before.refund({&c, 1}, old, now);
    take(before, "a");
    const answer ours = take(after, "a");
    take(after, "b");
    take(before, "c");
    after.refund({&c, 1}, ours, now);
    after.end_swaps();
    EXPECT_EQ(has_room("a"), 3);
    EXPECT_EQ(has_room("b"), 2) << "one is this process' own";
    EXPECT_EQ(has_room("c"), 3);
}

TEST_F(handovers, leave_places_alone_that_are_counted_anew)
{
    const charge c = of(places, "a");
    answer a;
    ASSERT_TRUE(before.take({&c, 1}, now, a));
    move_buckets();
    const limit::correction reset{.what = limit::correction::kind::reset};
    charge made = c;
    made.is_grant = true;
    ASSERT_TRUE(after.correct(made, reset, now));
    ASSERT_TRUE(after.take({&c, 1}, now, a));
    after.end_swaps();
    for (int room = 2; room > 0; --room) {
        EXPECT_TRUE(takes(after, c));
    }
    EXPECT_FALSE(takes(after, c));
}

// Any questions, put to either, are answered as one store that gets them all answers them.
TEST_F(handovers, make_two_stores_answer_as_one)
{
    std::minstd_rand random{7};
    const auto draw = [&](std::size_t n) { return random() % n; };
    const std::vector<const limit::limit*> limits{&tokens, &slow, &log, &quota};
    memory_store one{{.max_buckets = 1000}};
    for (memory_store* s : {&one, &before, &after}) {
        s->set_unix_time(seconds{0});
    }
    const auto question = [&] {
        std::vector<charge> charges;
        for (std::size_t i = 0; i <= draw(3); ++i) {
            const std::size_t l = draw(limits.size());
            const std::string name = std::to_string(l) + "/" + std::to_string(draw(4));
            charges.push_back(of(*limits[l], name));
            charges.back().cost = static_cast<std::int64_t>(draw(3));
            charges.back().penalty = l == 0 ? &ban : nullptr;
            charges.back().enforced = draw(5) != 0;
        }
        return charges;
    };
    int admitted = 0;
    for (int turn = 0; turn < 20'000; ++turn) {
        if (turn == 1'000) {
            move_buckets();
        }
        now += milliseconds{draw(20)};
        const auto charges = question();
        const intent what = draw(8) == 0 ? intent::look : intent::take;
        memory_store& either = turn < 1'000 || draw(2) == 0 ? before : after;
        answer expected;
        answer got;
        ASSERT_TRUE(one.decide(what, charges, now, expected));
        ASSERT_TRUE(either.decide(what, charges, now, got));
        ASSERT_TRUE(same(expected, got)) << "turn " << turn;
        admitted += got.admitted ? 1 : 0;
        if (got.admitted && what == intent::take && draw(6) == 0) {
            one.refund(charges, expected, now);
            either.refund(charges, got, now);
        }
    }
    EXPECT_GT(admitted, 2'000);
    EXPECT_LT(admitted, 18'000);
    EXPECT_GT(keeper.asked, 5'000);
}

TEST_F(handovers, hold_between_threads_of_both)
{
    const charge c = of(slow, "a");
    std::atomic<int> taken = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            for (int k = 0; k < 400; ++k) {
                taken += takes(i % 2 == 0 ? before : after, c) ? 1 : 0;
                if (i == 1 && k == 10) {
                    std::this_thread::yield();
                }
            }
        });
        if (i == 0) {
            move_buckets();
        }
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_EQ(taken, 500);
}

TEST_F(handovers, may_be_called_off)
{
    const charge c = of(slow, "a");
    before.leave();
    std::atomic<bool> decided = false;
    std::thread asking([&] {
        EXPECT_TRUE(takes(before, c));
        decided = true;
    });
    std::this_thread::yield();
    EXPECT_FALSE(decided);
    before.stay();
    asking.join();
    EXPECT_EQ(keeper.asked, 0);
}

TEST_F(handovers, go_on_with_the_copies_when_the_other_has_gone)
{
    move_buckets();
    keeper.gone = true;
    const charge c = of(slow, "a");
    EXPECT_TRUE(takes(before, c));
}

}  // namespace memory_handover_test
}  // namespace gateway::store
