// Bans, of whatever limit in whatever store. Rates are slow, so the passing of time during a test
// changes no whole number.
#include "tests/contract/redis_cluster.hpp"
#include "tests/contract/subjects.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gateway::store::testing {
namespace bans_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

const limit::limit five = *limit::limit::make(1, hours{1}, 5);

charge of(
    const limit::limit& l,
    std::string_view name,
    std::int64_t cost = 1,
    bool enforced = true,
    bool corrected = false
)
{
    return {
        .limit_name = name.substr(0, 1),
        .bucket_name = base::hashed_name{name},
        .limit = &l,
        .cost = cost,
        .enforced = enforced,
        .may_be_corrected = corrected};
}

// So long that none ends while a test runs.
limit::limit windows_of_five()
{
    return *limit::limit::in_windows(
        {.count = 5, .length = hours{24 * 365 * 30}, .aligned = false, .capacity = 5}
    );
}

const limit::penalty strict{.after = 3, .within = hours{1}, .ban = seconds{1}, .max_ban = hours{1}};

// Each of five tokens or places, which do not come back while a test runs.
std::vector<limit::limit> all_kinds_of_five()
{
    return {
        five,
        windows_of_five(),
        *limit::limit::sliding(5, hours{5}, 16),
        *limit::limit::sliding(5, hours{5}, 0),
        *limit::limit::in_flight(5, hours{1})};
}

limit::correction ban_for(std::int64_t ticks)
{
    using kind = limit::correction::kind;
    return {.what = ticks > 0 ? kind::ban : kind::unban, .of = {.held = ticks}};
}

template <typename Subject>
class store_bans : public ::testing::Test {
protected:
    Subject subject;

    answer take(const std::vector<charge>& charges)
    {
        const auto a = subject.take(charges);
        EXPECT_TRUE(a.has_value());
        return a.value_or(answer{});
    }

    limit::decision take_one(const charge& c) { return take({c}).decisions()[0]; }
};

using subjects = ::testing::Types<memory_subject, redis_subject, cluster_subject, postgres_subject>;
TYPED_TEST_SUITE(store_bans, subjects);

TYPED_TEST(store_bans, bans_who_is_rejected_too_often_and_twice_as_long_the_next_time)
{
    charge c = of(five, "a1", 5);
    c.penalty = &strict;
    EXPECT_TRUE(this->take_one(c).allowed);
    EXPECT_FALSE(this->take_one(c).banned);
    EXPECT_FALSE(this->take_one(c).banned);
    const auto third = this->take_one(c);
    EXPECT_TRUE(third.banned);
    EXPECT_GT(third.retry_after, hours{4}) << "its tokens are not there sooner";
    c.cost = 0;
    const auto banned = this->take_one(c);
    EXPECT_TRUE(banned.banned);
    EXPECT_FALSE(banned.allowed) << "even what costs nothing";
    EXPECT_LE(banned.retry_after, seconds{1});
    const base::instant start = base::now();
    while (!this->take_one(c).allowed && base::now() < start + seconds{5}) {
    }
    EXPECT_GE(base::now() - start, milliseconds{500});
    c.cost = 5;
    this->take({c});
    this->take({c});
    this->take({c});
    c.cost = 0;
    const auto again = this->take_one(c);
    EXPECT_TRUE(again.banned);
    EXPECT_GT(again.retry_after, seconds{1}) << "twice as long";
    EXPECT_LE(again.retry_after, seconds{2});
    EXPECT_TRUE(this->take_one(of(five, "a1", 0)).allowed) << "without the penalty";
}

TYPED_TEST(store_bans, bans_and_unbans_a_bucket_of_any_limit)
{
    const auto two_hours = ban_for(this->subject.ticks(hours{2}));
    std::int64_t permit = 0;
    for (const limit::limit& l : all_kinds_of_five()) {
        for (const limit::penalty* const p :
             {static_cast<const limit::penalty*>(nullptr), &strict}) {
            const std::string name = std::to_string(++permit);
            SCOPED_TRACE("limit " + name);
            charge c = of(l, name, 1, true, true);
            c.penalty = p;
            c.permit = permit;
            c.is_grant = true;
            EXPECT_EQ(this->take_one(c).remaining, 4);
            this->subject.correct(c, two_hours, name + " ban");
            for (const std::int64_t cost : {1, 0, 6}) {
                charge other = c;
                other.cost = cost;
                other.permit = 1000 + permit;
                const auto banned = this->take_one(other);
                EXPECT_FALSE(banned.allowed) << cost;
                EXPECT_TRUE(banned.banned) << cost;
                EXPECT_EQ(banned.remaining, 4) << cost;
                EXPECT_GT(banned.retry_after, hours{1}) << cost;
                EXPECT_LE(cost == 6 ? hours{1} : banned.retry_after, hours{2}) << cost;
            }
            const std::string next = name + "b";
            const charge beside = of(l, next);
            EXPECT_FALSE(this->take({c, beside}).admitted);
            EXPECT_EQ(this->take_one(beside).remaining, 4) << "nothing was taken of it before";
            charge shadow = c;
            shadow.enforced = false;
            EXPECT_TRUE(this->take({shadow}).admitted);
            const bool slides = l.how() == limit::supply_kind::sliding;
            const limit::correction back{
                .of = {.tokens = 1, .held = slides ? this->subject.ticks(seconds{30}) : 0}};
            this->subject.correct(c, back, name + " back");
            charge other = c;
            other.permit = 2000 + permit;
            EXPECT_EQ(this->take_one(other).remaining, 5) << "what is given back meanwhile counts";
            this->subject.correct(c, ban_for(0), name + " unban");
            EXPECT_EQ(this->take_one(other).remaining, 4);
        }
    }
}

TYPED_TEST(store_bans, bans_every_charge_of_a_question)
{
    const charge c = of(five, "a1");
    this->take_one(c);
    this->subject.correct(c, ban_for(this->subject.ticks(hours{2})), "a1 ban");
    const answer a = this->take({c, of(five, "a1", 2), c});
    ASSERT_EQ(a.decisions().size(), 3U);
    for (const limit::decision& said : a.decisions()) {
        EXPECT_TRUE(said.banned);
        EXPECT_EQ(said.remaining, 4);
    }
}

TYPED_TEST(store_bans, keeps_what_a_banned_bucket_owes_whatever_its_limit_becomes)
{
    const std::vector<limit::limit> kinds = all_kinds_of_five();
    for (std::size_t from = 0; from < 4; ++from) {
        for (std::size_t to = 0; to < 4; ++to) {
            const std::string name = std::to_string(from) + std::to_string(to);
            SCOPED_TRACE(name);
            charge c = of(kinds[from], name, 2);
            c.is_grant = true;
            this->take_one(c);
            this->subject.correct(c, ban_for(this->subject.ticks(hours{2})), name + " ban");
            c.limit = &kinds[to];
            c.cost = 1;
            EXPECT_TRUE(this->take_one(c).banned);
            this->subject.correct(c, ban_for(0), name + " unban");
            EXPECT_EQ(this->take_one(c).remaining, 2);
        }
    }
}

TYPED_TEST(store_bans, ends_a_ban_when_its_time_is_over_and_forgives_nothing)
{
    std::int64_t number = 0;
    for (const limit::limit& l : all_kinds_of_five()) {
        const std::string name = std::to_string(++number);
        SCOPED_TRACE("limit " + name);
        charge c = of(l, name, 1);
        c.permit = 1;
        this->take_one(c);
        const base::instant start = base::now();
        this->subject.correct(c, ban_for(this->subject.ticks(milliseconds{300})), name + " ban");
        limit::decision said;
        do {
            c.permit += 1;
            said = this->take_one(c);
        } while (said.banned && base::now() < start + seconds{10});
        EXPECT_GE(base::now() - start, milliseconds{290});
        EXPECT_TRUE(said.allowed);
        EXPECT_EQ(said.remaining, 3);
    }
}

}  // namespace bans_test
}  // namespace gateway::store::testing
