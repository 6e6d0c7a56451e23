#include "gateway/store/memory/memory_store.hpp"

#include "gateway/limit/algebra.hpp"
#include "gateway/store/memory/memory_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace gateway::store {
namespace memory_store_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const limit::limit hourly = *limit::limit::make(1, hours{1}, 3);
const base::instant start{hours{1000}};

memory_options options(std::size_t max, memory_options::when_full on_full)
{
    return {.max_buckets = max, .on_full = on_full};
}

constexpr auto share = memory_options::when_full::share;
constexpr auto reject = memory_options::when_full::reject;

std::optional<answer> ask(
    memory_store& s, const std::vector<charge>& charges, base::instant now = start
)
{
    answer a;
    return s.take(charges, now, a) ? std::optional{a} : std::nullopt;
}

std::optional<limit::decision> take(
    memory_store& s,
    std::string_view client,
    base::instant now = start,
    std::string_view limit_name = "l"
)
{
    const auto a = ask(
        s,
        {{.limit_name = limit_name, .bucket_name = base::hashed_name{client}, .limit = &hourly}},
        now
    );
    return a ? std::optional{a->decisions()[0]} : std::nullopt;
}

limit::decision take_under(
    const limit::limit& l, memory_store& s, std::string_view client, base::instant now = start
)
{
    const auto a =
        ask(s, {{.limit_name = "l", .bucket_name = base::hashed_name{client}, .limit = &l}}, now);
    return a.value().decisions()[0];
}

TEST(memory_store, holds_exactly_as_many_clients_as_configured)
{
    for (const std::size_t max : {1UL, 2UL, 15UL, 1000UL, 1365UL, 5000UL}) {
        memory_store s{options(max, reject)};
        for (int round = 1; round <= 3; ++round) {
            for (std::size_t i = 0; i < max; ++i) {
                const auto d = take(s, "client " + std::to_string(i));
                ASSERT_TRUE(d.has_value()) << max << " " << i;
                ASSERT_TRUE(d->allowed);
                ASSERT_EQ(d->remaining, 3 - round);
            }
            ASSERT_EQ(s.size(), max);
        }
        EXPECT_EQ(take(s, "one more"), std::nullopt);
        EXPECT_EQ(s.turned_away(), 1U);
        EXPECT_FALSE(take(s, "client 0")->allowed) << "those inside are as they were";
    }
}

TEST(memory_store, clients_without_room_share_one_bucket_per_limit)
{
    memory_store s{options(1, share)};
    take(s, "inside");
    EXPECT_EQ(take(s, "a")->remaining, 2);
    EXPECT_EQ(take(s, "b")->remaining, 1);
    EXPECT_EQ(take(s, "c")->remaining, 0);
    EXPECT_FALSE(take(s, "d")->allowed);
    EXPECT_EQ(take(s, "e", start, "other limit")->remaining, 2);
    EXPECT_EQ(take(s, "inside")->remaining, 1);
    EXPECT_EQ(s.turned_away(), 5U);
    EXPECT_EQ(s.size(), 1U);
}

TEST(memory_store, a_client_that_gets_room_brings_the_shared_debt_along)
{
    memory_store s{options(1, share)};
    take(s, "inside");
    for (int i = 0; i < 3; ++i) {
        take(s, "a");
    }
    const base::instant later = start + hours{1};  // "inside" is full again
    EXPECT_EQ(take(s, "a", later)->remaining, 0) << "one token came back, no burst on top";
    EXPECT_FALSE(take(s, "a", later)->allowed);
    EXPECT_EQ(s.size(), 1U);
}

TEST(memory_store, two_clients_of_one_limit_may_share_in_one_question)
{
    memory_store s{options(1, share)};
    take(s, "inside");
    const std::vector<charge> both{
        {.limit_name = "l", .bucket_name = base::hashed_name{"a"}, .limit = &hourly, .cost = 2},
        {.limit_name = "l", .bucket_name = base::hashed_name{"b"}, .limit = &hourly, .cost = 2},
    };
    EXPECT_FALSE(ask(s, both)->admitted);
    EXPECT_EQ(take(s, "c")->remaining, 2) << "nothing was taken";
}

TEST(memory_store, forgets_full_buckets_only)
{
    memory_store s{options(100, reject)};
    for (int i = 0; i < 100; ++i) {
        take(s, "client " + std::to_string(i), start + seconds{i});
    }
    const base::instant half = start + hours{1} + seconds{49};
    s.sweep(half - hours{1}, 1);
    EXPECT_EQ(s.size(), 100U);
    s.sweep(half, 1);
    EXPECT_EQ(s.size(), 50U);
    for (int i = 50; i < 100; ++i) {
        ASSERT_EQ(take(s, "client " + std::to_string(i), half)->remaining, 1);
    }
}

TEST(memory_store, a_sweep_of_many_passes_sees_the_whole_table)
{
    memory_store s{options(20'000, reject)};
    for (int i = 0; i < 20'000; ++i) {
        take(s, std::to_string(i));
    }
    for (int pass = 0; pass < 7; ++pass) {
        s.sweep(start + hours{2}, 7);
    }
    EXPECT_EQ(s.size(), 0U);
}

TEST(memory_store, forgets_by_itself_when_room_is_needed)
{
    memory_store s{options(1000, reject)};
    for (int i = 0; i < 50'000; ++i) {  // each is full again long before the thousandth after it
        ASSERT_TRUE(take(s, std::to_string(i), start + seconds{i * 10})->allowed);
    }
    EXPECT_LE(s.size(), 1000U);
    EXPECT_EQ(s.turned_away(), 0U);
}

TEST(memory_store, agrees_with_a_map_of_buckets_while_it_forgets)
{
    memory_store s{options(300, reject)};
    std::map<std::string, limit::bucket> model;
    std::mt19937 random{7};
    base::instant now = start;
    for (int i = 0; i < 100'000; ++i) {
        now += seconds{random() % 120};
        const std::string client = std::to_string(random() % 200);
        const auto t = hourly.in_nanoseconds();
        auto& b = model[client];
        const auto want = limit::take(t, b, now.time_since_epoch().count(), 1);
        if (want.allowed) {
            b = want.after;
        }
        const auto got = take(s, client, now);
        ASSERT_EQ(got->allowed, want.allowed) << i;
        ASSERT_EQ(got->remaining, want.remaining) << i;
        ASSERT_EQ(got->reset_after.count(), want.full_in) << i;
        if (i % 50 == 0) {
            s.sweep(now, 4);
        }
    }
}

// Buckets with one key begin at one place. These three are so close to each other, and to the
// table's end, that the runs of their buckets meet and go on at its beginning.
TEST(memory_store, agrees_with_maps_where_clients_have_many_buckets)
{
    memory_store s{options(70, reject)};
    const auto log = *limit::limit::sliding(3, hours{1}, 0);
    using name_of = std::pair<std::uint64_t, std::uint64_t>;
    std::map<name_of, limit::bucket> buckets;
    std::map<name_of, limit::history> histories;
    std::mt19937 random{13};
    base::instant now = start;
    for (int i = 0; i < 100'000; ++i) {
        now += seconds{random() % 300};
        const std::int64_t ticks = now.time_since_epoch().count();
        const std::uint64_t limit = random() % 20;
        const std::uint64_t key = random() % 3 * 8;
        const base::hashed_name name{"name", {.low = limit * 100 + key, .high = key}};
        const bool slides = limit % 3 == 0;
        const charge c{.limit_name = "l", .bucket_name = name, .limit = slides ? &log : &hourly};
        const std::int64_t left = ask(s, {c}, now).value().decisions()[0].remaining;
        if (slides) {
            limit::history& past = histories[{limit, key}];
            past.forget(ticks - base::duration{hours{1}}.count());
            if (past.used() < 3) {
                past.take(limit::counted_at(log.in_nanoseconds(), ticks, 0), 1);
            }
            ASSERT_EQ(left, 3 - past.used()) << i;
        } else {
            limit::bucket& b = buckets[{limit, key}];
            const auto want = limit::take(hourly.in_nanoseconds(), b, ticks, 1);
            b = want.allowed ? want.after : b;
            ASSERT_EQ(left, want.remaining) << i;
        }
        if (i % 50 == 0) {
            s.sweep(now, 4);
            now += minutes{random() % 90};
        }
    }
}

TEST(memory_store, agrees_with_a_map_of_histories_while_it_forgets_and_moves_them)
{
    memory_store s{options(60, reject)};
    const auto log = *limit::limit::sliding(2, seconds{60}, 0);
    std::map<std::string, limit::history> model;
    std::mt19937 random{11};
    base::instant now = start;
    for (int i = 0; i < 100'000; ++i) {
        now += seconds{random() % 8};
        const std::string client = std::to_string(random() % 50);
        limit::history& past = model[client];
        const std::int64_t ticks = now.time_since_epoch().count();
        past.forget(ticks - base::duration{seconds{60}}.count());
        const bool passes = past.used() < 2;
        if (passes) {
            past.take(limit::counted_at(log.in_nanoseconds(), ticks, 0), 1);
        }
        const limit::decision got = take_under(log, s, client, now);
        ASSERT_EQ(got.allowed, passes) << i;
        ASSERT_EQ(got.remaining, 2 - past.used()) << i;
        if (i % 20 == 0) {
            s.sweep(now, 4);
        }
    }
}

TEST(memory_store, bounds_the_moments_of_buckets_that_are_there)
{
    memory_store s{options(10, reject)};
    const auto log = *limit::limit::sliding(10'000, hours{1}, 0);
    const std::size_t bound = 10 * memory_table::moments_per_bucket;
    base::instant now = start;
    std::vector<base::instant> passed;
    for (std::size_t i = 0; i < 20 * bound; ++i) {
        now += milliseconds{1};
        ASSERT_TRUE(take_under(log, s, std::to_string(i % 10), now).allowed);
    }
    EXPECT_LE(s.moments(), 2 * bound) << "one of them may double what it has";
    const std::int64_t left = take_under(log, s, "0", now).remaining;
    EXPECT_EQ(left, 10'000 - static_cast<std::int64_t>(2 * bound) - 1) << "none is forgotten";
    // What had no moment of its own comes back with the newest, never sooner.
    const base::instant nearly = now + hours{1} - milliseconds{1};
    EXPECT_LT(take_under(log, s, "0", nearly).remaining, 10'000 - static_cast<std::int64_t>(bound));
    EXPECT_EQ(take_under(log, s, "0", now + hours{1}).remaining, 9'998);
}

TEST(memory_store, moments_that_have_returned_make_room_for_other_clients)
{
    memory_store s{options(10, reject)};
    const auto log = *limit::limit::sliding(10'000, hours{1}, 0);
    base::instant now = start;
    while (s.moments() < 10 * memory_table::moments_per_bucket) {
        now += milliseconds{1};
        ASSERT_TRUE(take_under(log, s, "old " + std::to_string(s.moments() % 5), now).allowed);
    }
    now += hours{2};
    for (int i = 0; i < 5; ++i) {
        const auto given = take_under(log, s, "new " + std::to_string(i), now);
        EXPECT_TRUE(given.allowed);
        EXPECT_EQ(given.remaining, 9'999);
    }
}

TEST(memory_store, a_refund_gives_back_what_was_taken_and_no_more)
{
    memory_store s{options(10, reject)};
    const std::vector<charge> two{
        {.limit_name = "l", .bucket_name = base::hashed_name{"a"}, .limit = &hourly, .cost = 2}};
    take(s, "a");
    s.refund(two, ask(s, two).value(), start);
    EXPECT_EQ(take(s, "a")->remaining, 1);

    const answer rejected = ask(s, two).value();
    ASSERT_FALSE(rejected.admitted);
    s.refund(two, rejected, start);
    EXPECT_EQ(take(s, "a")->remaining, 0) << "nothing was taken, nothing comes back";
}

TEST(memory_store, a_late_refund_never_lets_a_client_exceed_its_burst)
{
    memory_store s{options(10, reject)};
    const std::vector<charge> one{
        {.limit_name = "l", .bucket_name = base::hashed_name{"a"}, .limit = &hourly}};
    const answer given = ask(s, one).value();
    const base::instant later = start + hours{2};  // full again without any refund
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(take(s, "a", later)->allowed);
    }
    s.refund(one, given, later);
    EXPECT_FALSE(take(s, "a", later)->allowed);
}

TEST(memory_store, a_refund_a_little_later_gives_back_all_but_what_flowed_back_meanwhile)
{
    memory_store s{options(10, reject)};
    const std::vector<charge> two{
        {.limit_name = "l", .bucket_name = base::hashed_name{"a"}, .limit = &hourly, .cost = 2}};
    const answer given = ask(s, two).value();
    s.refund(two, given, start + seconds{1});
    // Owed were 2 h less the second that has passed; 2 h less that second came back.
    EXPECT_EQ(take(s, "a", start + seconds{1})->reset_after, hours{1});
}

TEST(memory_store, a_refund_across_a_changed_rate_gives_nothing)
{
    const auto minutely = *limit::limit::make(1, std::chrono::minutes{1}, 3);
    memory_store s{options(10, reject)};
    const std::vector<charge> two{
        {.limit_name = "l", .bucket_name = base::hashed_name{"a"}, .limit = &hourly, .cost = 2}};
    const answer given = ask(s, two).value();
    EXPECT_EQ(take_under(minutely, s, "a").remaining, 0);
    s.refund(two, given, start);
    EXPECT_FALSE(take_under(minutely, s, "a").allowed);
    EXPECT_EQ(take_under(minutely, s, "a").retry_after, std::chrono::minutes{1});
}

TEST(memory_store, a_client_that_keeps_being_rejected_follows_a_changed_rate)
{
    const auto minutely = *limit::limit::make(1, std::chrono::minutes{1}, 3);
    memory_store s{options(10, reject)};
    for (int i = 0; i < 3; ++i) {
        take(s, "a");
    }
    for (int i = 0; i < 60; ++i) {
        const auto d = take_under(minutely, s, "a", start + seconds{i});
        ASSERT_FALSE(d.allowed);
        ASSERT_EQ(d.retry_after, seconds{60 - i}) << "what it is told stays true";
    }
    EXPECT_TRUE(take_under(minutely, s, "a", start + seconds{60}).allowed);

    EXPECT_FALSE(take(s, "a", start + seconds{60})->allowed);  // and back: three tokens are owed
    EXPECT_FALSE(take(s, "a", start + seconds{60 + 3599})->allowed);
    EXPECT_TRUE(take(s, "a", start + seconds{60 + 3600})->allowed);
}

TEST(memory_store, clients_without_room_follow_a_changed_rate_together)
{
    const auto minutely = *limit::limit::make(1, std::chrono::minutes{1}, 3);
    memory_store s{options(1, share)};
    take(s, "inside", start, "other limit");
    for (int i = 0; i < 3; ++i) {
        take(s, "a");
    }
    EXPECT_EQ(take_under(minutely, s, "b").retry_after, seconds{60});
    EXPECT_TRUE(take_under(minutely, s, "b", start + seconds{60}).allowed);
    EXPECT_FALSE(take_under(minutely, s, "c", start + seconds{60}).allowed);

    const base::instant later = start + hours{1};  // "inside" is full again, its slot is free
    EXPECT_TRUE(take_under(minutely, s, "d", later).allowed);
}

TEST(memory_store, a_client_rejected_with_room_for_it_follows_a_changed_rate)
{
    const auto daily = *limit::limit::make(1, hours{24}, 3);
    memory_store s{options(1, share)};
    take(s, "inside", start, "other limit");
    for (int i = 0; i < 3; ++i) {
        take_under(daily, s, "a");
    }
    // There is a slot now, but the shared debt of three days comes with it.
    const base::instant later = start + hours{1};
    EXPECT_FALSE(take(s, "a", later)->allowed);
    EXPECT_FALSE(take(s, "a", later + seconds{3449})->allowed);
    EXPECT_TRUE(take(s, "a", later + seconds{3450})->allowed)
        << "23/24 of a token, at the new rate";
}

TEST(memory_store, threads_together_never_get_more_than_the_burst)
{
    const auto hundred = *limit::limit::make(1, hours{1}, 100);
    memory_store s{options(4000, reject)};
    std::array<std::atomic<int>, 50> allowed{};
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < 4; ++seed) {
        threads.emplace_back([&, seed] {
            std::mt19937 random{seed};
            for (int i = 0; i < 10'000; ++i) {
                const std::size_t x = random() % 50;
                const std::size_t y = random() % 50;
                const std::string first = "client " + std::to_string(x);
                const std::string second = "client " + std::to_string(y);
                const std::vector<charge> both{
                    {.limit_name = "l", .bucket_name = base::hashed_name{first}, .limit = &hundred},
                    {.limit_name = "l",
                     .bucket_name = base::hashed_name{second},
                     .limit = &hundred},
                };
                if (ask(s, both)->admitted) {
                    ++allowed[x];
                    ++allowed[y];
                }
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    int exhausted = 0;
    for (const auto& a : allowed) {
        EXPECT_LE(a.load(), 100);
        exhausted += a.load() == 100 ? 1 : 0;
    }
    EXPECT_GE(exhausted, 45);
    EXPECT_EQ(s.size(), 50U);
}

TEST(memory_store, threads_together_never_fill_more_than_the_table)
{
    memory_store s{options(3000, reject)};
    std::atomic<std::size_t> inside{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 2000; ++i) {
                inside += take(s, std::to_string(t) + "/" + std::to_string(i)).has_value() ? 1 : 0;
                s.sweep(start, 100);
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_EQ(inside.load(), 3000U);
    EXPECT_EQ(s.size(), 3000U);
    EXPECT_EQ(s.turned_away(), 5000U);
}

TEST(memory_store, gives_back_places_of_clients_without_a_slot)
{
    memory_store small{{.max_buckets = 1}};
    const auto two = *limit::limit::in_flight(2, std::chrono::seconds{10});
    const auto place_of = [&two](std::string_view name) {
        return charge{.limit_name = "l", .bucket_name = base::hashed_name{name}, .limit = &two};
    };
    const base::instant now = base::now();
    answer a;
    const auto takes = [&](std::string_view name) {
        const charge c = place_of(name);
        return small.take({&c, 1}, now, a) && a.admitted;
    };
    const auto give_back = [&](std::string_view name, std::int64_t place) {
        charge c = place_of(name);
        c.permit = place;
        small.correct(c, {}, now);
    };
    ASSERT_TRUE(takes("has a slot"));
    const std::int64_t in_slot = a.permit(0);
    for (int round = 0; round < 5; ++round) {
        EXPECT_TRUE(takes("one"));
        EXPECT_TRUE(takes("other"));
        const std::int64_t shared = a.permit(0);
        EXPECT_FALSE(takes("third")) << "they share two places";
        give_back("one", shared);
        give_back("other", shared);
    }
    ASSERT_TRUE(takes("one"));
    const std::int64_t shared = a.permit(0);
    give_back("has a slot", in_slot);
    small.sweep(now, 1);
    EXPECT_TRUE(takes("other"));
    EXPECT_GT(a.permit(0), 0) << "who has none of the shared places gets the slot";
    give_back("other", a.permit(0));
    small.sweep(now, 1);
    EXPECT_TRUE(takes("one"));
    const std::int64_t second = a.permit(0);
    EXPECT_FALSE(takes("one")) << "it gets no slot while it may have places among the shared ones";
    EXPECT_EQ(small.size(), 0U);
    give_back("one", second);
    give_back("one", shared);
    EXPECT_TRUE(takes("one"));
    EXPECT_GT(a.permit(0), 0) << "now it has a slot";
    give_back("one", shared);
    EXPECT_TRUE(takes("one"));
    EXPECT_FALSE(takes("one")) << "a shared place is none of its slot";
    EXPECT_EQ(small.size(), 1U);
}

// A store of one slot, which another client has, and clients that share a bucket of ten tokens.
class shared_tokens : public ::testing::Test {
protected:
    memory_store small_{{.max_buckets = 1}};
    base::instant now_ = base::now();
    answer given_;

    static const limit::limit& ten()
    {
        static const auto made = *limit::limit::make(10, std::chrono::hours{24}, 10);
        return made;
    }

    shared_tokens() { EXPECT_TRUE(takes("has a slot", ten(), 1)); }

    bool takes(std::string_view name, const limit::limit& from, std::int64_t cost)
    {
        const charge c = charge_of(name, from, cost);
        return small_.take({&c, 1}, now_, given_) && given_.admitted;
    }

    std::int64_t left(std::string_view name, const limit::limit& from = ten())
    {
        const charge c = charge_of(name, from, 0);
        answer seen;
        EXPECT_TRUE(small_.decide(intent::look, {&c, 1}, now_, seen));
        return seen.decisions()[0].remaining;
    }

    void refund(
        std::string_view name, const limit::limit& from, std::int64_t cost, const answer& given
    )
    {
        const charge c = charge_of(name, from, cost);
        small_.refund({&c, 1}, given, now_);
    }

    // Frees the slot of the other client.
    void free_slot()
    {
        charge c = charge_of("has a slot", ten(), 0);
        small_.correct(c, {.what = limit::correction::kind::reset}, now_);
        small_.sweep(now_, 1);
        ASSERT_EQ(small_.size(), 0U);
    }

    static charge charge_of(std::string_view name, const limit::limit& from, std::int64_t cost)
    {
        return {
            .limit_name = "l",
            .bucket_name = base::hashed_name{name},
            .limit = &from,
            .cost = cost};
    }
};

TEST_F(shared_tokens, come_back_under_limits_of_any_kind)
{
    const auto window =
        *limit::limit::in_windows({.count = 10, .length = std::chrono::hours{24}, .capacity = 10});
    const auto log = *limit::limit::sliding(10, std::chrono::hours{24}, 0);
    const auto parts = *limit::limit::sliding(10, std::chrono::hours{24}, 8);
    for (const limit::limit* const l : {&ten(), &window, &log, &parts}) {
        memory_store fresh{{.max_buckets = 1}};
        const charge first = charge_of("has a slot", *l, 1);
        const charge c = charge_of("one", *l, 6);
        answer a;
        ASSERT_TRUE(fresh.take({&first, 1}, now_, a));
        for (int i = 0; i < 5; ++i) {
            ASSERT_TRUE(fresh.take({&c, 1}, now_, a));
            EXPECT_TRUE(a.admitted) << "after " << i << " that were given back";
            fresh.refund({&c, 1}, a, now_);
        }
        EXPECT_EQ(fresh.size(), 1U);
    }
}

TEST_F(shared_tokens, come_back_at_a_reset_only_as_many_as_the_request_took)
{
    ASSERT_TRUE(takes("one", ten(), 3));
    ASSERT_TRUE(takes("other", ten(), 4));
    charge c = charge_of("other", ten(), 4);
    c.is_of_shared_bucket = given_.is_shared(0);
    EXPECT_TRUE(c.is_of_shared_bucket);
    small_.correct(c, {.what = limit::correction::kind::reset, .of = {.tokens = 4}}, now_);
    EXPECT_EQ(left("other"), 7);
}

TEST_F(shared_tokens, come_back_to_a_slot_that_the_client_has_got_since)
{
    ASSERT_TRUE(takes("one", ten(), 3));
    const answer of_one = given_;
    ASSERT_TRUE(takes("other", ten(), 2));
    free_slot();
    ASSERT_TRUE(takes("one", ten(), 1));
    ASSERT_EQ(small_.size(), 1U) << "it has a slot, and begins with the debt of all";
    ASSERT_EQ(left("one"), 4);
    refund("one", ten(), 3, of_one);
    EXPECT_EQ(left("one"), 7);
    EXPECT_EQ(left("other"), 8) << "the shared bucket owes the two of the other client";
}

TEST_F(shared_tokens, do_not_come_back_for_those_of_a_slot_that_was_forgotten)
{
    free_slot();
    ASSERT_TRUE(takes("one", ten(), 5));
    const answer of_one = given_;
    EXPECT_FALSE(of_one.is_shared(0));
    now_ += std::chrono::hours{13};
    small_.sweep(now_, 1);
    ASSERT_TRUE(takes("another", ten(), 1));
    ASSERT_TRUE(takes("one", ten(), 5));
    ASSERT_EQ(left("one"), 5) << "it shares now";
    refund("one", ten(), 5, of_one);
    EXPECT_EQ(left("one"), 5);
}

TEST_F(shared_tokens, do_not_come_back_once_another_plan_has_paid_them_back)
{
    const auto fast = *limit::limit::make(10, seconds{1}, 10);
    ASSERT_TRUE(takes("one", ten(), 6));
    const answer of_one = given_;
    ASSERT_TRUE(takes("of another plan", fast, 1));
    now_ += seconds{2};
    ASSERT_TRUE(takes("of another plan", fast, 1));
    ASSERT_TRUE(takes("one", ten(), 6));
    const std::int64_t before = left("one");
    refund("one", ten(), 6, of_one);
    EXPECT_EQ(left("one"), before) << "the tokens of the second request stay taken";
}

TEST(memory_store, says_that_there_is_no_room_for_a_ban)
{
    memory_store small{{.max_buckets = 1}};
    const auto one = *limit::limit::make(1, std::chrono::hours{1}, 1);
    const limit::penalty p{
        .after = 3, .within = seconds{60}, .ban = seconds{60}, .max_ban = seconds{60}};
    const base::instant now = base::now();
    const charge other{
        .limit_name = "l", .bucket_name = base::hashed_name{"other"}, .limit = &one, .penalty = &p};
    const charge c{
        .limit_name = "l", .bucket_name = base::hashed_name{"one"}, .limit = &one, .penalty = &p};
    const limit::correction ban{.what = limit::correction::kind::ban, .of = {.held = 1}};
    answer a;
    ASSERT_TRUE(small.take({&other, 1}, now, a));
    EXPECT_FALSE(small.correct(c, ban, now));
    EXPECT_TRUE(small.correct(c, {.what = limit::correction::kind::unban}, now));
    EXPECT_TRUE(small.correct(c, ban, now + std::chrono::hours{1})) << "the other is forgotten";
}

TEST(memory_store, gives_back_no_tokens_of_others_for_those_that_have_come_back)
{
    memory_store s{{.max_buckets = 10}};
    const auto log = *limit::limit::sliding(1, seconds{2}, 0);
    const base::instant now = base::now();
    const charge c{.limit_name = "l", .bucket_name = base::hashed_name{"one"}, .limit = &log};
    answer a;
    ASSERT_TRUE(s.take({&c, 1}, now, a));
    ASSERT_TRUE(s.take({&c, 1}, now + seconds{2}, a) && a.admitted);
    const limit::correction late{.of = {.held = base::duration{seconds{3}}.count()}};
    s.correct(c, late, now + seconds{3});
    EXPECT_TRUE(s.take({&c, 1}, now + seconds{3}, a));
    EXPECT_FALSE(a.admitted);
}

TEST(memory_store, turns_clients_of_a_sliding_limit_away_where_there_is_no_room)
{
    memory_store small{{.max_buckets = 1, .on_full = memory_options::when_full::reject}};
    const auto log = *limit::limit::sliding(5, std::chrono::hours{1}, 0);
    const base::instant now = base::now();
    answer a;
    const charge one{.limit_name = "l", .bucket_name = base::hashed_name{"one"}, .limit = &log};
    const charge other{.limit_name = "l", .bucket_name = base::hashed_name{"other"}, .limit = &log};
    EXPECT_TRUE(small.take({&one, 1}, now, a));
    EXPECT_FALSE(small.take({&other, 1}, now, a));
    EXPECT_TRUE(small.take({&one, 1}, now, a));
}

}  // namespace memory_store_test
}  // namespace gateway::store
