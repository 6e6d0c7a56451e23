// What every store answers, whatever it is made of. Rates are slow, so the passing of time during
// a test changes no whole number.
#include "gateway/limit/algebra.hpp"
#include "tests/contract/redis_cluster.hpp"
#include "tests/contract/subjects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace gateway::store::testing {
namespace store_contract_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

const limit::limit five = *limit::limit::make(1, hours{1}, 5);
const limit::limit three = *limit::limit::make(1, hours{1}, 3);

// So long that none ends while a test runs.
limit::limit in_windows(std::int64_t count, std::int64_t capacity, bool aligned)
{
    return *limit::limit::in_windows(
        {.count = count, .length = hours{24 * 365 * 30}, .aligned = aligned, .capacity = capacity}
    );
}

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

template <typename Subject>
class store_contract : public ::testing::Test {
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
TYPED_TEST_SUITE(store_contract, subjects);

TYPED_TEST(store_contract, gives_a_burst_and_then_says_when_to_come_back)
{
    for (std::int64_t left = 4; left >= 0; --left) {
        const auto d = this->take_one(of(five, "a1"));
        EXPECT_TRUE(d.allowed);
        EXPECT_EQ(d.remaining, left);
        EXPECT_EQ(d.retry_after.count(), 0);
        EXPECT_LE(d.reset_after, hours{5 - left});
        EXPECT_GT(d.reset_after, hours{5 - left} - seconds{30});
    }
    const auto d = this->take_one(of(five, "a1"));
    EXPECT_FALSE(d.allowed);
    EXPECT_EQ(d.remaining, 0);
    EXPECT_LE(d.retry_after, hours{1});
    EXPECT_GT(d.retry_after, hours{1} - seconds{30});
    EXPECT_TRUE(this->take_one(of(five, "a2")).allowed) << "another client";
}

TYPED_TEST(store_contract, refills_at_the_rate_and_never_earlier)
{
    const auto brisk = *limit::limit::make(20, seconds{1}, 1);
    const base::instant start = base::now();
    ASSERT_TRUE(this->take_one(of(brisk, "a1")).allowed);
    bool again = false;
    while (!again && base::now() < start + seconds{5}) {
        again = this->take_one(of(brisk, "a1")).allowed;
    }
    EXPECT_TRUE(again);
    EXPECT_GE(base::now() - start, milliseconds{50});
}

TYPED_TEST(store_contract, charges_a_cost_or_nothing)
{
    EXPECT_EQ(this->take_one(of(five, "a1", 4)).remaining, 1);
    const auto d = this->take_one(of(five, "a1", 2));
    EXPECT_FALSE(d.allowed);
    EXPECT_EQ(d.remaining, 1);
    EXPECT_GT(d.retry_after, hours{1} - seconds{30});
    EXPECT_EQ(this->take_one(of(five, "a1", 1)).remaining, 0);
    EXPECT_FALSE(this->take_one(of(five, "a2", 6)).allowed) << "more than a burst never passes";
    EXPECT_FALSE(this->take_one(of(five, "a2", INT64_MAX)).allowed);
    EXPECT_EQ(this->take_one(of(five, "a2", 5)).remaining, 0) << "and took nothing";
}

charge waiting(charge c, base::duration most, std::int64_t tokens)
{
    c.max_wait = most;
    c.max_reserved = tokens;
    return c;
}

TYPED_TEST(store_contract, lets_requests_wait_for_their_tokens_one_behind_the_other)
{
    const charge c = waiting(of(three, "a1", 1, true, true), hours{2}, 9);
    this->take({of(three, "a1", 3)});
    for (int permit = 1; permit <= 2; ++permit) {
        const auto d = this->take_one(c);
        EXPECT_TRUE(d.allowed);
        EXPECT_EQ(d.remaining, 0);
        EXPECT_LE(d.retry_after, hours{permit});
        EXPECT_GT(d.retry_after, hours{permit} - seconds{30});
    }
    const auto late = this->take_one(c);
    EXPECT_FALSE(late.allowed) << "three hours are too long";
    EXPECT_GT(late.retry_after, hours{3} - seconds{30});
    EXPECT_FALSE(this->take_one(of(three, "a1")).allowed) << "it does not wait at all";
    EXPECT_FALSE(this->take_one(waiting(of(three, "a1"), hours{9}, 2)).allowed) << "of three";
    EXPECT_TRUE(this->take_one(waiting(of(three, "a1"), hours{9}, 3)).allowed);
    EXPECT_FALSE(this->take_one(waiting(of(three, "a1", 4), hours{9}, 9)).allowed) << "never";
}

TYPED_TEST(store_contract, takes_from_all_limits_or_from_none)
{
    this->take({of(three, "b1", 3)});
    const answer a = this->take({of(five, "a1"), of(three, "b1")});
    EXPECT_FALSE(a.admitted);
    EXPECT_TRUE(a.decisions()[0].allowed);
    EXPECT_EQ(a.decisions()[0].remaining, 5) << "untouched";
    EXPECT_EQ(a.decisions()[0].reset_after.count(), 0);
    EXPECT_FALSE(a.decisions()[1].allowed);
    EXPECT_EQ(this->take_one(of(five, "a1")).remaining, 4);
}

TYPED_TEST(store_contract, tells_what_it_would_say_when_one_charge_can_never_pass)
{
    this->take({of(three, "b1", 3), of(five, "c1", 1)});
    for (int i = 0; i < 2; ++i) {
        const answer a = this->take({of(five, "a1"), of(three, "b1"), of(five, "a1", INT64_MAX)});
        EXPECT_FALSE(a.admitted);
        EXPECT_TRUE(a.decisions()[0].allowed);
        EXPECT_EQ(a.decisions()[0].remaining, 5);
        EXPECT_FALSE(a.decisions()[1].allowed);
        EXPECT_GT(a.decisions()[1].retry_after, hours{1} - seconds{30});
        const answer b = this->take({of(five, "c1", 4, false), of(five, "c1", INT64_MAX)});
        EXPECT_TRUE(b.decisions()[0].allowed);
        EXPECT_EQ(b.decisions()[0].remaining, 4) << "in shadow mode, too, nothing is taken";
    }
}

TYPED_TEST(store_contract, shadow_limits_count_but_never_reject)
{
    this->take({of(three, "b1", 3)});
    const answer a = this->take({of(five, "a1"), of(three, "b1", 1, false)});
    EXPECT_TRUE(a.admitted);
    EXPECT_FALSE(a.decisions()[1].allowed);
    EXPECT_EQ(this->take_one(of(five, "a1")).remaining, 3);
    this->take({of(five, "a2"), of(three, "b2", 2, false)});
    EXPECT_EQ(this->take_one(of(three, "b2")).remaining, 0) << "an allowed shadow charge is taken";
}

TYPED_TEST(store_contract, a_bucket_charged_twice_in_one_question_sees_both)
{
    const answer a = this->take({of(five, "a1", 2), of(five, "a1", 3)});
    EXPECT_TRUE(a.admitted);
    EXPECT_EQ(a.decisions()[0].remaining, 3);
    EXPECT_EQ(a.decisions()[1].remaining, 0);
    const answer b = this->take({of(five, "a2", 3), of(five, "a2", 3)});
    EXPECT_FALSE(b.admitted);
    EXPECT_EQ(b.decisions()[0].remaining, 5);
    EXPECT_EQ(this->take_one(of(five, "a2")).remaining, 4);
}

TYPED_TEST(store_contract, a_changed_rate_keeps_the_debt_in_tokens)
{
    this->take({of(five, "a1", 4)});
    const auto slower = *limit::limit::make(1, hours{10}, 5);
    const auto d = this->take_one(of(slower, "a1"));
    EXPECT_TRUE(d.allowed);
    EXPECT_EQ(d.remaining, 0);
    EXPECT_LE(d.reset_after, hours{50});
    EXPECT_GT(d.reset_after, hours{50} - seconds{300});
    const auto faster = *limit::limit::make(1, seconds{1000}, 5);
    const auto e = this->take_one(of(faster, "a1"));
    EXPECT_FALSE(e.allowed);
    EXPECT_LE(e.reset_after, seconds{5000});
    EXPECT_GT(e.reset_after, seconds{4970});
}

TYPED_TEST(store_contract, a_changed_burst_never_forgives)
{
    this->take({of(five, "a1", 4)});
    const auto d = this->take_one(of(three, "a1"));
    EXPECT_FALSE(d.allowed);
    EXPECT_EQ(d.remaining, 0);
    EXPECT_GT(d.retry_after, hours{2} - seconds{30});
    const auto ten = *limit::limit::make(1, hours{1}, 10);
    EXPECT_EQ(this->take_one(of(ten, "a1")).remaining, 5);
}

// A reload changes a limit while its clients keep asking.
TYPED_TEST(store_contract, a_rejected_client_follows_a_faster_rate_at_once)
{
    const auto slow = *limit::limit::make(1, hours{1}, 1);
    const auto brisk = *limit::limit::make(20, seconds{1}, 1);
    ASSERT_TRUE(this->take_one(of(slow, "a1")).allowed);
    const base::instant changed = base::now();
    bool allowed = false;
    while (!allowed && base::now() < changed + seconds{5}) {
        allowed = this->take_one(of(brisk, "a1")).allowed;
    }
    EXPECT_TRUE(allowed) << "the hour is paid off at the new rate";
    EXPECT_GE(base::now() - changed, milliseconds{49});
}

TYPED_TEST(store_contract, a_rejected_client_is_not_forgiven_by_a_slower_rate)
{
    const auto brisk = *limit::limit::make(5, seconds{1}, 1);
    const auto slow = *limit::limit::make(1, hours{1}, 1);
    bool in_time = false;  // before its bucket was full again; a busy machine may need another try
    for (int i = 0; !in_time && i < 20; ++i) {
        const std::string name = "a" + std::to_string(i);
        const base::instant start = base::now();
        ASSERT_TRUE(this->take_one(of(brisk, name)).allowed);
        const bool rejected = !this->take_one(of(slow, name)).allowed;
        in_time = base::now() < start + milliseconds{150};
        while (in_time && base::now() < start + milliseconds{300}) {
            ASSERT_TRUE(rejected);
            ASSERT_FALSE(this->take_one(of(slow, name)).allowed);
        }
    }
    EXPECT_TRUE(in_time);
}

TYPED_TEST(store_contract, a_rejected_client_keeps_its_debt_when_rate_and_burst_change)
{
    const auto narrow = *limit::limit::make(1, hours{2}, 2);
    const auto wide = *limit::limit::make(1, hours{2}, 10);
    this->take({of(five, "a1", 5)});
    for (int i = 0; i < 2; ++i) {
        const auto d = this->take_one(of(narrow, "a1"));
        EXPECT_FALSE(d.allowed);
        EXPECT_EQ(d.remaining, 0);
        EXPECT_LE(d.reset_after, hours{10});
        EXPECT_GT(d.reset_after, hours{10} - seconds{60}) << "five tokens, more than the burst";
        EXPECT_GT(d.retry_after, hours{8} - seconds{60});
    }
    EXPECT_EQ(this->take_one(of(wide, "a1")).remaining, 4) << "and room is added to it";
}

TYPED_TEST(store_contract, a_limit_follows_its_rate_though_another_one_rejects)
{
    const auto brisk = *limit::limit::make(20, seconds{1}, 5);
    this->take({of(five, "a1", 4), of(three, "b1", 3)});
    const base::instant changed = base::now();
    while (base::now() < changed + milliseconds{250}) {
        ASSERT_FALSE(this->take({of(brisk, "a1"), of(three, "b1")}).admitted);
    }
    EXPECT_EQ(this->take_one(of(five, "a1")).remaining, 4) << "all four came back in 200 ms";
}

// Corrections that come with receipts, one after the other.
TYPED_TEST(store_contract, corrects_what_a_bucket_owes)
{
    using kind = limit::correction::kind;
    for (const limit::limit& l : {five, in_windows(5, 5, true), in_windows(5, 5, false)}) {
        const char* const name = l == five ? "a1" : l == in_windows(5, 5, true) ? "b1" : "c1";
        const charge c = of(l, name, 1, true, true);
        int number = 0;
        const auto correct = [&](const limit::correction& what) {
            const std::string receipt =
                std::string(c.bucket_name.bytes()) + std::to_string(++number);
            this->subject.correct(c, what, receipt);
            this->subject.correct(c, what, receipt);
        };
        this->take({c, c, c});
        correct({.what = kind::refund, .of = {.tokens = 2}});
        EXPECT_EQ(this->take_one(c).remaining, 3);
        correct({.what = kind::charge, .of = {.tokens = 3}});
        EXPECT_FALSE(this->take_one(c).allowed);
        correct({.what = kind::charge, .of = {.tokens = 4}});
        correct({.what = kind::refund, .of = {.tokens = 4}});
        EXPECT_FALSE(this->take_one(c).allowed) << "in debt before, empty now";
        correct({.what = kind::refund, .of = {.tokens = 1}});
        EXPECT_EQ(this->take_one(c).remaining, 0);
        correct({.what = kind::reset});
        EXPECT_EQ(this->take_one(c).remaining, 4);
    }
}

TYPED_TEST(store_contract, empties_a_bucket_at_most_where_a_charge_is_to_make_no_debt)
{
    using kind = limit::correction::kind;
    const auto sliding = *limit::limit::sliding(5, hours{1}, 4);
    for (const limit::limit& l : {five, in_windows(5, 5, true), sliding}) {
        const char* const name = l == five ? "a1" : l == sliding ? "c1" : "b1";
        const charge c = of(l, name, 1, true, true);
        const limit::correction most{.what = kind::charge, .of = {.tokens = 5}, .into_debt = false};
        this->take({c, c, c});
        this->subject.correct(c, most, std::string{name} + " first");
        this->subject.correct(c, most, std::string{name} + " second");
        EXPECT_EQ(this->take_one(c).remaining, 0);
        this->subject.correct(c, {.of = {.tokens = 1}}, std::string{name} + " back");
        EXPECT_TRUE(this->take_one(c).allowed) << "it owed what it holds";
        this->subject.correct(
            c, {.what = kind::charge, .of = {.tokens = 9}}, std::string{name} + " into debt"
        );
        this->subject.correct(c, most, std::string{name} + " third");
        this->subject.correct(c, {.of = {.tokens = 9}}, std::string{name} + " out of debt");
        EXPECT_FALSE(this->take_one(c).allowed) << "a debt stays what it was";
    }
}

// More than the windows that a script in a store is told of.
TYPED_TEST(store_contract, keeps_a_debt_of_many_windows_of_a_calendar)
{
    const auto dates = std::make_shared<limit::calendar>();
    const auto today = base::unix_time() / hours{24};
    for (std::int64_t day = today - 5; day < today + 400; ++day) {
        dates->begins.push_back(day * 86'400);
    }
    const auto daily = *limit::limit::in_windows(
        {.count = 10, .length = hours{24}, .aligned = true, .dates = dates, .capacity = 10}
    );
    const charge c = of(daily, "a1", 1, true, true);
    this->subject.set_unix_time();
    this->take({c});
    this->subject.correct(
        c, {.what = limit::correction::kind::charge, .of = {.tokens = 999}}, "a1 much"
    );
    for (int i = 0; i < 2; ++i) {
        const auto d = this->take_one(c);
        EXPECT_FALSE(d.allowed);
        EXPECT_GT(d.retry_after, hours{24 * 98});
        EXPECT_LE(d.retry_after, hours{24 * 100});
    }
}

TYPED_TEST(store_contract, gives_back_less_what_flowed_back_meanwhile)
{
    const charge c = of(five, "a1", 1, true, true);
    this->take({c, c});
    const std::int64_t an_hour = this->subject.ticks(hours{1});
    this->subject.correct(c, {.of = {.held = an_hour}}, "a1 full");
    EXPECT_EQ(this->take_one(c).remaining, 2) << "an hour ago it was full: the token was lost";
    this->subject.correct(c, {.of = {.held = an_hour, .owed_before = an_hour}}, "a1 busy");
    EXPECT_EQ(this->take_one(c).remaining, 2) << "it was not: given back, and taken again";
}

TYPED_TEST(store_contract, lets_a_token_of_a_sliding_limit_back_when_its_taking_is_one_window_old)
{
    const auto log = *limit::limit::sliding(2, milliseconds{300}, 0);
    const auto parts = *limit::limit::sliding(2, milliseconds{300}, 3);
    for (const limit::limit* l : {&log, &parts}) {
        const charge c = of(*l, l == &log ? "a1" : "b1");
        const base::instant start = base::now();
        ASSERT_EQ(this->take_one(c).remaining, 1);
        const base::instant taken = base::now();
        EXPECT_EQ(this->take_one(c).remaining, 0);
        const auto said = this->take_one(c);
        EXPECT_FALSE(said.allowed);
        EXPECT_LE(said.retry_after, milliseconds{l == &log ? 300 : 400});
        bool again = false;
        while (!again && base::now() < start + seconds{5}) {
            again = this->take_one(c).allowed;
        }
        EXPECT_GE(base::now() - start, milliseconds{300});
        EXPECT_GE(base::now() - taken, said.retry_after - milliseconds{20});
    }
}

TYPED_TEST(store_contract, corrects_what_a_sliding_limit_counted)
{
    const auto sliding = *limit::limit::sliding(5, hours{1}, 0);
    const charge c = of(sliding, "a1", 1, true, true);
    this->take({c, c});
    const std::int64_t held = this->subject.ticks(hours{1} - seconds{30});
    this->subject.correct(c, {.of = {.tokens = 1, .held = held}}, "a1 1");
    EXPECT_EQ(this->take_one(c).remaining, 3);
    this->subject.correct(
        c, {.what = limit::correction::kind::charge, .of = {.tokens = 9}}, "a1 more"
    );
    EXPECT_FALSE(this->take_one(c).allowed);
    this->subject.correct(c, {.what = limit::correction::kind::reset}, "a1 reset");
    EXPECT_EQ(this->take_one(c).remaining, 4);
}

TYPED_TEST(store_contract, keeps_a_place_until_its_request_ends)
{
    const auto two = *limit::limit::in_flight(2, hours{1});
    std::vector<charge> permits(3, of(two, "a1", 1, true, true));
    for (std::size_t i = 0; i < permits.size(); ++i) {
        permits[i].permit = static_cast<std::int64_t>(i) + 1;
    }
    EXPECT_EQ(this->take_one(permits[0]).remaining, 1);
    EXPECT_EQ(this->take_one(permits[1]).remaining, 0);
    const auto said = this->take_one(permits[2]);
    EXPECT_FALSE(said.allowed);
    EXPECT_EQ(said.retry_after, seconds{1});
    this->subject.correct(permits[0], {}, "a1 ends");
    this->subject.correct(permits[0], {}, "a1 ends");
    EXPECT_TRUE(this->take_one(permits[2]).allowed);
    EXPECT_FALSE(this->take_one(permits[0]).allowed);
    EXPECT_TRUE(this->take({of(five, "b1"), of(two, "c1")}).admitted);
}

TYPED_TEST(store_contract, forgets_the_places_in_flight_of_a_bucket_that_is_reset)
{
    const auto two = *limit::limit::in_flight(2, hours{1});
    std::vector<charge> permits(5, of(two, "a1", 1, true, true));
    for (std::size_t i = 0; i < permits.size(); ++i) {
        permits[i].permit = static_cast<std::int64_t>(i) + 1;
    }
    EXPECT_TRUE(this->take_one(permits[0]).allowed);
    EXPECT_TRUE(this->take_one(permits[1]).allowed);
    this->subject.correct(permits[0], {.what = limit::correction::kind::reset}, "a1 reset");
    EXPECT_TRUE(this->take_one(permits[2]).allowed);
    EXPECT_TRUE(this->take_one(permits[3]).allowed);
    this->subject.correct(permits[0], {}, "a1 ends");
    this->subject.correct(permits[1], {}, "a2 ends");
    EXPECT_FALSE(this->take_one(permits[4]).allowed) << "what was forgotten frees nothing";
    this->subject.correct(permits[2], {}, "a3 ends");
    EXPECT_TRUE(this->take_one(permits[4]).allowed);
}

TYPED_TEST(store_contract, gives_back_what_was_waited_for)
{
    using std::chrono::minutes;
    const auto log = *limit::limit::sliding(2, minutes{4}, 0);
    charge waiting = of(log, "a1", 1, true, true);
    waiting.max_wait = limit::limit::max_wait;
    waiting.max_reserved = 20;
    for (int i = 0; i < 4; ++i) {
        EXPECT_TRUE(this->take_one(waiting).allowed);
    }
    const auto fifth = this->take_one(waiting);
    EXPECT_GT(fifth.retry_after, minutes{8} - seconds{30});
    const std::int64_t held = -this->subject.ticks(fifth.retry_after);
    this->subject.correct(waiting, {.of = {.tokens = 1, .held = held}}, "a1 leaves");
    const auto again = this->take_one(waiting);
    EXPECT_GT(again.retry_after, minutes{8} - seconds{30}) << "in the place of who has left";
    EXPECT_LE(again.retry_after, minutes{8});
}

TYPED_TEST(store_contract, counts_what_slides_from_when_its_request_goes_on)
{
    if (std::is_same_v<TypeParam, cluster_subject>) {
        GTEST_SKIP() << "the two buckets are on different nodes, which know nothing of each other";
    }
    const auto log = *limit::limit::sliding(2, hours{1}, 0);
    const charge first = waiting(of(three, "a1", 1, true, true), hours{2}, 9);
    this->take({of(three, "a1", 3)});
    for (const bool enforced : {true, false}) {
        const charge counts = of(log, enforced ? "b1" : "c1", 1, enforced, true);
        const answer a = this->take({first, counts});
        ASSERT_TRUE(a.admitted);
        const auto wait = a.decisions()[0].retry_after;
        EXPECT_GT(wait, hours{1} - seconds{30});
        EXPECT_EQ(a.decisions()[1].retry_after, wait);
        EXPECT_GE(a.decisions()[1].reset_after, hours{1} + wait);
        EXPECT_LT(a.decisions()[1].reset_after, hours{1} + wait + seconds{30});
        EXPECT_EQ(a.decisions()[1].remaining, 1);
    }
}

// The same rules again, as plainly as they can be written, with time standing still.
class model {
public:
    // Of a cluster: what waits on another node is not known.
    bool in_cluster = false;

    answer take(const std::vector<charge>& charges)
    {
        for (const charge& c : charges) {
            auto& b = buckets_[std::string{c.bucket_name.bytes()}];
            b = limit::rebased(c.limit->in_microseconds(), b, start);
        }
        auto after = buckets_;
        std::vector<limit::step> steps;
        answer a;
        for (const charge& c : charges) {
            auto& b = after[std::string{c.bucket_name.bytes()}];
            const auto t = c.limit->in_microseconds();
            const limit::ahead most{c.max_wait / std::chrono::microseconds{1}, c.max_reserved};
            steps.push_back(limit::take(t, b, start, c.cost, most));
            if (steps.back().allowed) {
                b = steps.back().after;
            }
            a.admitted = a.admitted && (steps.back().allowed || !c.enforced);
        }
        for (std::size_t i = 0; i < charges.size(); ++i) {
            const bool untouched = !a.admitted && steps[i].allowed;
            const auto& b = buckets_[std::string{charges[i].bucket_name.bytes()}];
            const auto t = charges[i].limit->in_microseconds();
            const auto said = untouched ? limit::look(t, b, start) : steps[i];
            a.add(limit::decision_in<std::chrono::microseconds>(said));
        }
        if (a.admitted && !in_cluster) {
            count_later(charges, a);
        }
        if (a.admitted) {
            buckets_ = after;
        }
        return a;
    }

private:
    static constexpr std::int64_t start = 1;

    std::map<std::string, limit::bucket> buckets_;

    // What slides goes on with its request.
    static void count_later(const std::vector<charge>& charges, answer& a)
    {
        base::duration wait{0};
        for (std::size_t i = 0; i < charges.size(); ++i) {
            wait = charges[i].enforced ? std::max(wait, a.decisions()[i].retry_after) : wait;
        }
        for (std::size_t i = 0; i < charges.size(); ++i) {
            limit::decision said = a.decisions()[i];
            if (said.allowed && charges[i].limit->how() == limit::supply_kind::sliding) {
                said.retry_after = std::max(said.retry_after, wait);
                a.replace(i, said);
            }
        }
    }
};

TYPED_TEST(store_contract, answers_any_sequence_as_the_model_does)
{
    const std::vector<limit::limit> limits{
        five,
        three,
        *limit::limit::make(1, hours{24}, 100),
        *limit::limit::make(7, hours{7}, 20),
        in_windows(9, 9, true),
        in_windows(6, 14, false),
        *limit::limit::sliding(4, hours{24}, 0),
        *limit::limit::sliding(9, hours{24 * 7}, 8)};
    std::mt19937 random{20};
    const auto pick = [&random](std::size_t n) { return random() % n; };
    std::vector<std::string> names;
    for (int i = 0; i < 24; ++i) {
        names.push_back(std::string(1, static_cast<char>('a' + i % 4)) + std::to_string(i));
    }
    constexpr auto slack = hours{1};  // a second passing now may be 24 after a reload
    constexpr bool in_cluster = std::is_same_v<TypeParam, cluster_subject>;
    model expected;
    expected.in_cluster = in_cluster;
    for (int round = 0; round < 400; ++round) {  // with a reload at every fiftieth
        std::vector<charge> charges;
        for (std::size_t n = 1 + pick(max_charges); n > 0; --n) {
            const std::size_t i = pick(names.size());
            const std::size_t reloads = static_cast<std::size_t>(round) / 50;
            charges.push_back(
                of(limits[(i + reloads) % limits.size()],
                   names[i],
                   1 + static_cast<std::int64_t>(pick(3)),
                   pick(4) != 0)
            );
            if (pick(3) == 0) {
                const auto tokens = static_cast<std::int64_t>(pick(4));
                charges.back() = waiting(charges.back(), hours{24 * 365 * 200}, tokens);
            }
        }
        const answer want = expected.take(charges);
        const answer got = this->take(charges);
        ASSERT_EQ(got.admitted, want.admitted) << round;
        ASSERT_EQ(got.decisions().size(), charges.size());
        for (std::size_t i = 0; i < charges.size(); ++i) {
            const auto& g = got.decisions()[i];
            const auto& w = want.decisions()[i];
            ASSERT_EQ(g.allowed, w.allowed) << round << "/" << i;
            ASSERT_EQ(g.remaining, w.remaining) << round << "/" << i;
            // What slides waits as long as the others on its node.
            const bool waits = g.retry_after.count() != 0 && in_cluster && got.admitted &&
                               charges[i].limit->how() == limit::supply_kind::sliding;
            ASSERT_TRUE(waits || (g.retry_after.count() == 0) == (w.retry_after.count() == 0));
            ASSERT_EQ(g.reset_after.count() == 0, w.reset_after.count() == 0);
            if (charges[i].limit->how() != limit::supply_kind::token_bucket) {
                continue;  // the model's windows begin at other moments
            }
            ASSERT_LE(g.retry_after, w.retry_after);
            ASSERT_GE(g.retry_after, w.retry_after - slack);
            ASSERT_LE(g.reset_after, w.reset_after);
            ASSERT_GE(g.reset_after, w.reset_after - slack);
        }
    }
}

TYPED_TEST(store_contract, parts_of_a_bucket_hold_what_the_whole_does)
{
    this->subject.set_unix_time();
    const std::array<limit::limit, 3> whole{
        *limit::limit::make(1, hours{1}, 11),
        in_windows(11, 11, true),
        *limit::limit::sliding(11, hours{1}, 16)};
    for (const limit::limit& l : whole) {
        const auto split = *l.split(3);
        int passed = 0;
        for (std::size_t i = 0; i < split.parts().size(); ++i) {
            const std::string name =
                std::to_string(static_cast<int>(l.how())) + '/' + std::to_string(i);
            while (this->take_one(of(split.parts()[i], name)).allowed) {
                ++passed;
            }
        }
        EXPECT_EQ(passed, 11);
    }
}

}  // namespace store_contract_test
}  // namespace gateway::store::testing
