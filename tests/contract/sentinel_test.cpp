// A store behind sentinels: which server it takes for the master, and when it asks again.
#include "gateway/store/redis/rebasing.hpp"
#include "tests/contract/fake_sentinel.hpp"
#include "tests/contract/subjects.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

namespace gateway::store::testing {
namespace sentinel_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class sentinel : public ::testing::Test {
protected:
    sentinel()
    {
        for (int i = 0; i < 3; ++i) {
            sentinels_.emplace_back(loop_.context());
        }
        all_name(first_, 1);
    }

    ~sentinel() override
    {
        if (store_ != nullptr) {
            store_->close();
        }
        for (fake_sentinel& s : sentinels_) {
            s.close();
        }
        net::testing::end(loop_);
    }

    void all_name(const redis_server& master, int epoch)
    {
        for (fake_sentinel& s : sentinels_) {
            s.name(master.port(), epoch);
        }
    }

    redis_options options() const
    {
        redis_options o;
        o.timeout = milliseconds{200};
        o.sentinel.emplace();
        o.sentinel->master = "buckets";
        for (const fake_sentinel& s : sentinels_) {
            o.sentinel->sentinels.push_back({"127.0.0.1", s.port(), {}});
        }
        return o;
    }

    // True if it becomes healthy in that time.
    bool open(base::duration within = seconds{5})
    {
        store_ = open_store(loop_, "shared", options(), metrics_);
        return becomes_healthy(within);
    }

    bool becomes_healthy(base::duration within = seconds{5})
    {
        return run_until(
            loop_.context(), [this] { return store_->healthy(); }, within
        );
    }

    // Nothing: it was decided.
    std::optional<failure> take()
    {
        asker a;
        const charge c{.limit_name = "l", .bucket_name = base::hashed_name{"x"}, .limit = &limit_};
        if (const auto refused = store_->ask({&c, 1}, a)) {
            return refused;
        }
        run_until(loop_.context(), [&a] { return a.settled(); });
        return a.why;
    }

    // A replica of nobody: it takes no writes.
    static void demote(const redis_server& server)
    {
        EXPECT_EQ(server.command({"REPLICAOF", "127.0.0.1", "1"}), "OK");
    }

    static bool has_bucket(const redis_server& server) { return server.command({"DBSIZE"}) != "0"; }

    net::loop loop_;
    telemetry::store_metrics metrics_;
    redis_server first_;
    redis_server second_;
    std::deque<fake_sentinel> sentinels_;
    const limit::limit limit_ = *limit::limit::make(1, hours{1}, 1000);
    std::shared_ptr<shared_store> store_;
};

TEST_F(sentinel, the_newest_word_counts)
{
    sentinels_[2].name(second_.port(), 2);
    ASSERT_TRUE(open());
    EXPECT_EQ(take(), std::nullopt);
    EXPECT_TRUE(has_bucket(second_));
    EXPECT_FALSE(has_bucket(first_));
}

// It may not know yet that it was replaced.
TEST_F(sentinel, a_master_of_before_is_not_used_where_the_newest_is_out_of_reach)
{
    demote(second_);
    sentinels_[1].name(second_.port(), 9);
    EXPECT_FALSE(open(milliseconds{700}));
    EXPECT_EQ(take(), failure::readonly);
    EXPECT_FALSE(has_bucket(first_));
    all_name(first_, 10);
    EXPECT_TRUE(becomes_healthy(milliseconds{700}));
    EXPECT_EQ(take(), std::nullopt);
    EXPECT_TRUE(has_bucket(first_));
}

TEST_F(sentinel, one_that_is_silent_is_hardly_waited_for)
{
    sentinels_[0].be_silent();
    ASSERT_TRUE(open(milliseconds{400}));
    EXPECT_EQ(take(), std::nullopt);
}

TEST_F(sentinel, a_master_that_takes_no_writes_makes_it_ask_again)
{
    ASSERT_TRUE(open());
    ASSERT_EQ(take(), std::nullopt);
    demote(first_);
    all_name(second_, 2);
    EXPECT_EQ(take(), failure::readonly);
    ASSERT_TRUE(becomes_healthy(milliseconds{700}));
    EXPECT_EQ(take(), std::nullopt);
    EXPECT_TRUE(has_bucket(second_));
}

TEST_F(sentinel, a_demoted_master_that_is_still_named_is_not_used)
{
    demote(first_);
    EXPECT_FALSE(open(milliseconds{300}));
    EXPECT_EQ(take(), failure::readonly);
    all_name(second_, 2);
    EXPECT_TRUE(becomes_healthy(milliseconds{700}));
}

TEST_F(sentinel, what_it_hears_makes_it_leave_a_master_that_lives)
{
    ASSERT_TRUE(open());
    const auto listeners = [this] {
        return sentinels_[0].listeners() + sentinels_[1].listeners() + sentinels_[2].listeners();
    };
    ASSERT_TRUE(run_until(loop_.context(), [&] { return listeners() == 1; }));
    for (fake_sentinel& s : sentinels_) {
        s.name(second_.port(), 2);
        s.publish("another");
    }
    run_until(
        loop_.context(), [] { return false; }, milliseconds{100}
    );
    ASSERT_TRUE(store_->healthy()) << "of another master";
    for (fake_sentinel& s : sentinels_) {
        s.publish("buckets");
    }
    ASSERT_TRUE(run_until(loop_.context(), [this] { return !store_->healthy(); }));
    ASSERT_TRUE(becomes_healthy(milliseconds{500}));
    EXPECT_EQ(take(), std::nullopt);
    EXPECT_TRUE(has_bucket(second_));
    EXPECT_FALSE(has_bucket(first_));
}

TEST_F(sentinel, the_one_that_is_heard_is_not_the_only_one_believed)
{
    ASSERT_TRUE(open());
    ASSERT_TRUE(run_until(loop_.context(), [this] {
        return std::any_of(sentinels_.begin(), sentinels_.end(), [](const fake_sentinel& s) {
            return s.listeners() == 1;
        });
    }));
    for (fake_sentinel& s : sentinels_) {
        if (s.listeners() == 0) {
            s.name(second_.port(), 2);
        }
    }
    ASSERT_TRUE(run_until(
        loop_.context(), [this] { return !store_->healthy(); }, seconds{1}
    ));
    ASSERT_TRUE(becomes_healthy(milliseconds{500}));
    EXPECT_EQ(take(), std::nullopt);
    EXPECT_TRUE(has_bucket(second_));
}

TEST_F(sentinel, they_are_heard_again_soon_after_none_was_for_long)
{
    ASSERT_TRUE(open());
    for (fake_sentinel& s : sentinels_) {
        s.be_silent();
    }
    run_until(
        loop_.context(), [] { return false; }, seconds{4}
    );
    ASSERT_TRUE(store_->healthy());
    all_name(second_, 2);
    for (fake_sentinel& s : sentinels_) {
        s.be_silent_no_more();
    }
    ASSERT_TRUE(run_until(
        loop_.context(), [this] { return !store_->healthy(); }, seconds{1}
    ));
}

TEST_F(sentinel, what_is_no_news_ends_no_connection)
{
    ASSERT_TRUE(open());
    run_until(
        loop_.context(), [] { return false; }, milliseconds{100}
    );
    for (fake_sentinel& s : sentinels_) {
        s.publish("buckets");
    }
    EXPECT_FALSE(run_until(
        loop_.context(), [this] { return !store_->healthy(); }, milliseconds{300}
    ));
}

TEST_F(sentinel, another_one_is_listened_to_when_that_one_goes)
{
    ASSERT_TRUE(open());
    const auto heard = [this] {
        return std::find_if(sentinels_.begin(), sentinels_.end(), [](const fake_sentinel& s) {
            return s.listeners() == 1;
        });
    };
    ASSERT_TRUE(run_until(loop_.context(), [&] { return heard() != sentinels_.end(); }));
    heard()->close();
    ASSERT_TRUE(run_until(loop_.context(), [&] { return heard() == sentinels_.end(); }));
    EXPECT_TRUE(run_until(loop_.context(), [&] { return heard() != sentinels_.end(); }));
    EXPECT_TRUE(store_->healthy());
}

TEST_F(sentinel, without_a_master_they_are_asked_a_few_times_a_second)
{
    first_.stop();
    EXPECT_FALSE(open(seconds{2}));
    EXPECT_EQ(take(), failure::unreachable);
    EXPECT_LT(sentinels_[0].connected(), 25);
}

TEST_F(sentinel, a_walk_over_the_keys_goes_to_the_master_that_they_name)
{
    ASSERT_TRUE(open());
    ASSERT_EQ(take(), std::nullopt);
    const auto ttl = [this] {
        return std::stoll(first_.command({"PTTL", first_.command({"KEYS", "*"})}));
    };
    const auto before = ttl();
    const std::vector<named_limit> faster{{"l", *limit::limit::make(100, hours{1}, 1000)}};
    const auto walk =
        start_walk<redis::rebasing>(loop_.get_executor(), "shared", options(), faster);
    EXPECT_TRUE(run_until(loop_.context(), [&] { return walk->ended(); }));
    EXPECT_LT(ttl(), before / 10);
}

}  // namespace sentinel_test
}  // namespace gateway::store::testing
