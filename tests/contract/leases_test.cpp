// Leases of several workers on one bucket in a real server.
#include "tests/contract/subjects.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

namespace gateway::store::testing {
namespace leases_test {

using namespace std::chrono_literals;

class leases : public ::testing::Test {
protected:
    class worker {
    public:
        explicit worker(const std::shared_ptr<redis_server>& server) : subject_(server, patient())
        {}

        std::int64_t admitted = 0;

        redis_subject& subject() { return subject_; }

        // At most so many under way.
        void request(const charge& c)
        {
            answer a;
            if (subject_.store().recalls({&c, 1}, base::now(), a)) {
                return;
            }
            if (subject_.store().take_leased({&c, 1}, a)) {
                admitted += c.cost;
                return;
            }
            while (!asked_.empty() && asked_.front().settled()) {
                admitted += asked_.front().got && asked_.front().got->admitted ? c.cost : 0;
                asked_.pop_front();
            }
            if (asked_.size() < 32) {
                ASSERT_EQ(subject_.store().ask({&c, 1}, asked_.emplace_back()), std::nullopt);
            }
        }

        void turn()
        {
            subject_.io().restart();
            subject_.io().poll();
        }

        void finish()
        {
            while (!asked_.empty()) {
                asker& q = asked_.front();
                ASSERT_TRUE(run_until(subject_.io(), [&q] { return q.settled(); }));
                admitted += q.got && q.got->admitted ? 1 : 0;
                asked_.pop_front();
            }
        }

    private:
        redis_subject subject_;
        std::deque<asker> asked_;

        static redis_options patient()
        {
            redis_options o;
            o.timeout = 2s;
            return o;
        }
    };

    const std::shared_ptr<redis_server> server = std::make_shared<redis_server>();
    const limit::limit fast = *limit::limit::make(1000, 1s, 2000);
    const limit::limit large = *limit::limit::make(1000, 1s, 100'000);
    const limit::token_lease tenth{.percent = 10, .time = 500ms};
    std::deque<worker> workers;

    void start(std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_TRUE(workers.emplace_back(server).subject().becomes_healthy());
        }
    }

    charge hot(const limit::limit& l) const
    {
        return {
            .limit_name = "l",
            .bucket_name = base::hashed_name{"hot"},
            .limit = &l,
            .lease = &tenth};
    }

    // One after the other, each as soon as the one before is decided.
    static void take(worker& w, const charge& c, int times)
    {
        for (int i = 0; i < times; ++i) {
            w.request(c);
            w.finish();
        }
    }
};

TEST_F(leases, of_workers_give_what_the_limit_says)
{
    start(3);
    const charge c = hot(fast);
    const base::instant begin = base::now();
    const auto supplied = [begin] { return 2000 + (base::now() - begin) / 1ms; };
    const auto admitted = [this] {
        std::int64_t sum = 0;
        for (const worker& w : workers) {
            sum += w.admitted;
        }
        return sum;
    };
    std::int64_t due = 0;
    // A machine that stood still may catch up: the bucket holds two seconds of tokens.
    do {
        for (worker& w : workers) {
            for (int i = 0; i < 4; ++i) {
                w.request(c);
            }
            w.turn();
        }
        due = supplied() * 99 / 100;
    } while (base::now() < begin + 3s || (admitted() < due && base::now() < begin + 13s));
    std::uint64_t leased = 0;
    for (worker& w : workers) {
        w.finish();
        leased += w.subject().metrics().leased_decisions.value();
    }
    EXPECT_LE(admitted(), supplied());
    EXPECT_GE(admitted(), due);
    EXPECT_GT(leased, 500U);
}

TEST_F(leases, give_back_what_nobody_asked_for)
{
    start(1);
    worker& w = workers.front();
    charge deep = hot(large);
    deep.cost = 50'000;
    deep.lease = nullptr;
    const base::instant before = base::now();
    ASSERT_TRUE(w.subject().take(std::vector{deep}));
    const base::instant after = base::now();
    const charge c = hot(large);
    take(w, c, 300);
    ASSERT_EQ(w.admitted, 300);
    ASSERT_GT(w.subject().metrics().leased_decisions.value(), 100U);
    run_until(
        w.subject().io(), [] { return false; }, tenth.time + 50ms
    );
    charge look = c;
    look.cost = 0;
    look.lease = nullptr;
    const base::instant at = base::now();
    const auto left = w.subject().take(std::vector{look})->decisions()[0].remaining;
    EXPECT_GE(left, 49'700 + (at - after) / 1ms - 1);
    EXPECT_LE(left, 49'700 + (base::now() - before) / 1ms + 1);
}

TEST_F(leases, end_when_another_worker_resets_the_bucket)
{
    start(2);
    worker& w = workers.front();
    const charge c = hot(large);
    take(w, c, 300);
    answer a;
    ASSERT_TRUE(w.subject().store().take_leased({&c, 1}, a));
    const limit::correction reset{.what = limit::correction::kind::reset};
    charge grant = c;
    grant.lease = nullptr;
    grant.correction = &reset;
    grant.receipt = "12345678901234567890123456789012";
    grant.is_grant = true;
    ASSERT_TRUE(workers.back().subject().take(std::vector{grant}));
    run_until(
        w.subject().io(), [] { return false; }, 101ms
    );
    ASSERT_FALSE(w.subject().store().take_leased({&c, 1}, a)) << "nothing was heard for 100 ms";
    charge look = c;
    look.cost = 0;
    look.lease = nullptr;
    EXPECT_EQ(w.subject().take(std::vector{look})->decisions()[0].remaining, 100'000);
    EXPECT_FALSE(w.subject().store().take_leased({&c, 1}, a)) << "it is heard of the reset";
}

TEST_F(leases, are_given_back_when_a_worker_ends)
{
    start(1);
    worker& w = workers.front();
    take(w, hot(large), 300);
    EXPECT_TRUE(run_until(w.subject().io(), [&] { return w.subject().store().settle_up(); }));
    answer a;
    const charge c = hot(large);
    EXPECT_FALSE(w.subject().store().take_leased({&c, 1}, a));
}

}  // namespace leases_test
}  // namespace gateway::store::testing
