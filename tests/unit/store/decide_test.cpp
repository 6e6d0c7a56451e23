#include "gateway/store/memory/decide.hpp"

#include "gateway/limit/history.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gateway::store {
namespace decide_test {

using std::chrono::hours;
using std::chrono::seconds;

const limit::limit hourly = *limit::limit::make(1, hours{1}, 3);
const limit::limit two_a_minute = *limit::limit::sliding(2, seconds{60}, 0);
constexpr std::int64_t now = 1'000'000'000'000;

// Buckets in memory that nobody else sees. Charge i is of bucket `of[i]`.
struct buckets {
    std::vector<standing> all;
    std::vector<std::size_t> of;
    std::vector<bool> banned{};
    std::int64_t at = now;
    const limit::history* past = nullptr;

    standing& standing_for(std::size_t i) { return all[of[i]]; }

    limit::moment moment(std::size_t, const limit::terms&) const
    {
        return past == nullptr ? limit::moment{at} : limit::moment{at, *past};
    }

    void apply_bans(std::size_t i, limit::decision& decision) const
    {
        if (i < banned.size() && banned[i]) {
            decision.allowed = false;
            decision.banned = true;
        }
    }
};

charge of(const limit::limit& l, std::int64_t cost = 1)
{
    return {.limit_name = "l", .bucket_name = base::hashed_name{"b"}, .limit = &l, .cost = cost};
}

struct outcome {
    bool goes_ahead;
    answer given;
};

outcome decided(const std::vector<charge>& charges, buckets& at, intent what = intent::take)
{
    outcome o{};
    o.given.clear();
    o.goes_ahead = decide(charges, at, what, o.given);
    return o;
}

std::int64_t owed(const limit::limit& l, const limit::bucket& b)
{
    return limit::look(l.in_nanoseconds(), b, now).full_in / l.in_nanoseconds().interval;
}

TEST(decide, takes_from_every_bucket)
{
    buckets at{{{}, {}}, {0, 1}};
    const auto [goes_ahead, given] = decided({of(hourly), of(hourly, 2)}, at);
    EXPECT_TRUE(goes_ahead);
    EXPECT_EQ(owed(hourly, at.all[0].after), 1);
    EXPECT_EQ(owed(hourly, at.all[1].after), 2);
    EXPECT_EQ(given.decisions()[0].remaining, 2);
    EXPECT_EQ(given.decisions()[1].remaining, 1);
}

TEST(decide, describes_untouched_buckets_when_one_rejects)
{
    buckets at{{{}, {}}, {0, 1}};
    const auto [goes_ahead, given] = decided({of(hourly), of(hourly, 4)}, at);
    EXPECT_FALSE(goes_ahead);
    EXPECT_FALSE(given.admitted);
    EXPECT_TRUE(given.decisions()[0].allowed);
    EXPECT_EQ(given.decisions()[0].remaining, 3);
    EXPECT_FALSE(given.decisions()[1].allowed);
    EXPECT_FALSE(at.all[1].is_taken());
}

TEST(decide, lets_the_second_charge_of_a_bucket_see_the_first)
{
    buckets at{{{}}, {0, 0}};
    EXPECT_TRUE(decided({of(hourly), of(hourly, 2)}, at).goes_ahead);
    EXPECT_EQ(owed(hourly, at.all[0].after), 3);
    buckets again{{{}}, {0, 0}};
    EXPECT_FALSE(decided({of(hourly, 2), of(hourly, 2)}, again).goes_ahead);
}

TEST(decide, lets_no_charge_in_shadow_mode_reject)
{
    charge shadow = of(hourly, 4);
    shadow.enforced = false;
    buckets at{{{}, {}}, {0, 1}};
    const auto [goes_ahead, given] = decided({shadow, of(hourly)}, at);
    EXPECT_TRUE(goes_ahead);
    EXPECT_FALSE(given.decisions()[0].allowed);
    EXPECT_FALSE(at.all[0].is_taken());
    EXPECT_TRUE(at.all[1].is_taken());
}

TEST(decide, leaves_buckets_to_who_looks)
{
    buckets at{{{}}, {0}};
    const auto [goes_ahead, given] = decided({of(hourly, 2)}, at, intent::look);
    EXPECT_FALSE(goes_ahead);
    EXPECT_TRUE(given.admitted);
    EXPECT_EQ(given.decisions()[0].remaining, 3);
}

TEST(decide, rejects_a_banned_client)
{
    buckets at{{{}, {}}, {0, 1}, {true, false}};
    const auto [goes_ahead, given] = decided({of(hourly), of(hourly)}, at);
    EXPECT_FALSE(goes_ahead);
    EXPECT_TRUE(given.decisions()[0].banned);
    EXPECT_EQ(given.decisions()[1].remaining, 3);
}

TEST(decide, waits_for_the_longest_and_counts_sliding_tokens_from_then)
{
    charge waits = of(hourly, 3);
    waits.max_wait = hours{10};
    waits.max_reserved = 10;
    buckets at{{{}, {}}, {0, 1}};
    ASSERT_TRUE(decided({waits, of(two_a_minute)}, at).goes_ahead);
    at.all = {{at.all[0].after, at.all[0].after}, {}};
    const auto [goes_ahead, given] = decided({waits, of(two_a_minute)}, at);
    EXPECT_TRUE(goes_ahead);
    EXPECT_EQ(given.decisions()[0].retry_after, hours{3});
    EXPECT_EQ(given.decisions()[1].retry_after, hours{3});
    EXPECT_EQ(given.decisions()[1].reset_after, hours{3} + seconds{60});
    EXPECT_EQ(at.all[1].wait, base::duration{hours{3}}.count());
}

// Whatever is asked, no bucket gives more than its burst and what was issued meanwhile.
TEST(decide, never_gives_a_token_too_many)
{
    std::mt19937 random{7};
    const limit::limit quick = *limit::limit::make(1, seconds{1}, 10);
    buckets at{std::vector<standing>(3), {}};
    std::vector<std::int64_t> given(3);
    for (int round = 0; round < 2000; ++round) {
        std::vector<charge> charges;
        at.of.clear();
        for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
            charges.push_back(of(quick, static_cast<std::int64_t>(random() % 5)));
            at.of.push_back(random() % 3);
        }
        const bool goes_ahead = decided(charges, at).goes_ahead;
        for (std::size_t i = 0; goes_ahead && i < charges.size(); ++i) {
            given[at.of[i]] += charges[i].cost;
        }
        for (standing& s : at.all) {
            const limit::bucket kept = goes_ahead ? s.after : s.before;
            s = {kept, kept};
        }
        at.at += base::duration{seconds{1}}.count() / 3;
        for (const std::int64_t tokens : given) {
            ASSERT_LE(tokens, 10 + (at.at - now) / base::duration{seconds{1}}.count());
        }
    }
    EXPECT_GT(given[0], 600);
}

}  // namespace decide_test
}  // namespace gateway::store
