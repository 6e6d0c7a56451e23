// Corrections of requests whose limit has changed meanwhile, by a reload or another plan of the
// client: the bucket stays what it is (limit::terms_to_correct_in).
#include "tests/contract/redis_cluster.hpp"
#include "tests/contract/subjects.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace gateway::store::testing {
namespace late_corrections_test {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using kind = limit::correction::kind;

const auto fast = *limit::limit::make(10, seconds{1}, 10);
const auto slow = *limit::limit::make(10, hours{1}, 10);
// It does not end while a test runs.
const auto window = *limit::limit::in_windows(
    {.count = 10, .length = hours{24 * 365 * 30}, .aligned = true, .capacity = 10}
);
const auto sliding = *limit::limit::sliding(10, hours{1}, 0);
const auto permits = *limit::limit::in_flight(2, hours{1});

charge of(const limit::limit& l, std::int64_t permit = 1)
{
    return {
        .limit_name = "a",
        .bucket_name = base::hashed_name{"a1"},
        .limit = &l,
        .permit = permit,
        .may_be_corrected = true};
}

template <typename Subject>
class late_corrections : public ::testing::Test {
protected:
    Subject subject;

    limit::decision take(const charge& c)
    {
        const auto a = subject.take({&c, 1});
        EXPECT_TRUE(a.has_value());
        return a.value_or(answer{}).decisions()[0];
    }

    void take_all(const limit::limit& l)
    {
        for (std::int64_t i = 1; take(of(l, i)).allowed; ++i) {
        }
    }

    void correct(
        const limit::limit& l, kind what, std::int64_t tokens = 1, bool by_operator = false
    )
    {
        // A grant to a sliding limit gives back tokens of any age.
        const bool of_any_age = by_operator && l.how() == limit::supply_kind::sliding;
        const std::int64_t held = of_any_age ? subject.ticks(hours{1}) - 1 : 0;
        correct(l, {.what = what, .of = {.tokens = tokens, .held = held}}, by_operator);
    }

    void correct(const limit::limit& l, const limit::correction& what, bool by_operator)
    {
        charge c = of(l);
        c.is_grant = by_operator;
        subject.correct(c, what, "receipt " + std::to_string(++made_));
    }

private:
    int made_ = 0;
};

using subjects = ::testing::Types<memory_subject, redis_subject, cluster_subject, postgres_subject>;
TYPED_TEST_SUITE(late_corrections, subjects);

TYPED_TEST(late_corrections, are_charged_at_the_rate_of_the_bucket)
{
    this->take_all(slow);
    this->correct(fast, kind::charge, 2);
    const auto said = this->take(of(slow));
    EXPECT_FALSE(said.allowed);
    EXPECT_GT(said.reset_after, minutes{6} * 12 - seconds{30});
    EXPECT_LE(said.reset_after, minutes{6} * 12);
}

TYPED_TEST(late_corrections, give_nothing_back_and_change_no_rate)
{
    this->take_all(slow);
    this->correct(fast, kind::refund, 5);
    const auto said = this->take(of(slow));
    EXPECT_FALSE(said.allowed);
    EXPECT_GT(said.reset_after, hours{1} - seconds{30});
}

TYPED_TEST(late_corrections, empty_a_bucket_of_the_same_kind)
{
    this->take_all(slow);
    this->correct(window, kind::reset);
    EXPECT_EQ(this->take(of(slow)).remaining, 9);
}

TYPED_TEST(late_corrections, leave_windows_alone_whose_numbers_they_do_not_know)
{
    for (const limit::limit* l : {&window, &sliding}) {
        this->correct(*l, kind::reset, 1, true);
        this->take_all(*l);
        const auto before = this->take(of(*l)).reset_after;
        this->correct(fast, kind::charge, 2);
        this->correct(fast, kind::refund, 2);
        const auto after = this->take(of(*l));
        EXPECT_FALSE(after.allowed);
        EXPECT_LE(before - after.reset_after, seconds{20});
        EXPECT_LE(after.reset_after, before);
    }
}

TYPED_TEST(late_corrections, leave_a_longer_window_alone)
{
    const auto longer = *limit::limit::sliding(10, hours{5}, 0);
    this->take_all(longer);
    this->correct(sliding, kind::charge, 2);
    this->correct(sliding, kind::refund, 2);
    const auto said = this->take(of(longer));
    EXPECT_FALSE(said.allowed);
    EXPECT_GT(said.reset_after, hours{4});
}

TYPED_TEST(late_corrections, of_tokens_leave_requests_in_flight_alone)
{
    this->take_all(permits);
    for (const limit::limit* l : {&fast, &window, &sliding}) {
        for (const kind what : {kind::charge, kind::refund, kind::reset}) {
            this->correct(*l, what);
            EXPECT_FALSE(this->take(of(permits, 3)).allowed);
        }
    }
    this->subject.correct(of(permits, 2), {}, "it ends");
    EXPECT_TRUE(this->take(of(permits, 3)).allowed);
}

TYPED_TEST(late_corrections, of_requests_in_flight_leave_tokens_alone)
{
    for (const limit::limit* l : {&slow, &window, &sliding}) {
        this->correct(*l, kind::reset, 1, true);
        this->take_all(*l);
        if (!std::is_same_v<TypeParam, memory_subject>) {
            this->correct(permits, kind::renew);
        }
        this->correct(permits, kind::refund);
        this->correct(permits, kind::reset);
        EXPECT_FALSE(this->take(of(*l)).allowed);
    }
}

TYPED_TEST(late_corrections, of_an_operator_bring_a_bucket_to_the_limit)
{
    for (const limit::limit* from : {&slow, &window, &sliding}) {
        for (const limit::limit* to : {&fast, &window, &sliding}) {
            this->correct(*from, kind::reset, 1, true);
            for (int i = 0; i < 9; ++i) {
                this->take(of(*from));
            }
            this->correct(*to, kind::refund, 9, true);
            EXPECT_EQ(this->take(of(*to)).remaining, 9);
        }
    }
    this->correct(sliding, kind::reset, 1, true);
    this->take_all(sliding);
    this->correct(permits, kind::reset, 1, true);
    EXPECT_EQ(this->take(of(permits)).remaining, 1);
}

template <typename Subject>
class late_leases : public late_corrections<Subject> {};

using leasing = ::testing::Types<redis_subject, postgres_subject>;
TYPED_TEST_SUITE(late_leases, leasing);

TYPED_TEST(late_leases, are_not_taken_back_after_a_grant)
{
    const limit::correction unused{.what = kind::refund, .of = {.tokens = 4}, .grant_epoch = 0};
    this->take_all(slow);
    this->correct(slow, unused, false);
    EXPECT_EQ(this->take(of(slow)).remaining, 3);
    this->correct(slow, kind::reset, 1, true);
    this->take_all(slow);
    this->correct(slow, unused, false);
    EXPECT_FALSE(this->take(of(slow)).allowed);
}

}  // namespace late_corrections_test
}  // namespace gateway::store::testing
