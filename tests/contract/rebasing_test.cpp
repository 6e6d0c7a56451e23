// After a reload that changed a rate, clients that stay away are seen to, too.
#include "gateway/store/redis/rebasing.hpp"

#include "tests/contract/subjects.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace gateway::store::testing {
namespace rebasing_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const limit::limit hourly = *limit::limit::make(1, hours{1}, 5);
const limit::limit daily = *limit::limit::make(1, hours{24}, 5);

class rebasing : public ::testing::Test {
protected:
    redis_subject subject;
    std::shared_ptr<redis::rebasing> walk;

    void SetUp() override { ASSERT_TRUE(subject.becomes_healthy()); }

    ~rebasing() override
    {
        if (walk != nullptr) {
            walk->cancel();
        }
    }

    limit::decision take(const std::string& limit_name, const std::string& client, std::int64_t n)
    {
        const charge c{
            .limit_name = limit_name,
            .bucket_name = base::hashed_name{client},
            .limit = &hourly,
            .cost = n};
        answer a;
        EXPECT_EQ(subject.ask({&c, 1}, a), std::nullopt);
        return a.decisions()[0];
    }

    void begin(const limit::limit& fresh)
    {
        redis_options o;
        o.port = std::to_string(subject.server().port());
        const std::vector<named_limit> limits{{"unused", daily}, {"l", fresh}};
        walk = start_walk<redis::rebasing>(subject.io().get_executor(), "shared", o, limits);
    }

    std::string command(const std::vector<std::string>& words)
    {
        return subject.server().command(words);
    }

    // How many keys that begin so expire between these.
    int expiring(const std::string& prefix, base::duration from, base::duration to)
    {
        const auto in_ms = [](base::duration d) {
            return std::to_string(std::chrono::duration_cast<milliseconds>(d).count());
        };
        constexpr const char* script =
            "local count = 0 "
            "for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do "
            "  local left = redis.call('PTTL', key) "
            "  if left > tonumber(ARGV[2]) and left <= tonumber(ARGV[3]) + 2 then "
            "    count = count + 1 "
            "  end "
            "end "
            "return count";
        return std::stoi(command({"EVAL", script, "0", prefix, in_ms(from), in_ms(to)}));
    }
};

TEST_F(rebasing, makes_every_debt_one_at_the_new_rate_and_nothing_else)
{
    constexpr int clients = 350;  // some steps of the walk
    for (int i = 0; i < clients; ++i) {
        take("l", std::to_string(i), 2);
    }
    take("other", "someone", 2);
    const std::string digits(32, 'f');
    command({"SET", "gw:l:" + digits, "not a bucket"});
    command({"RPUSH", "gw:l:0" + digits.substr(1), "x"});
    command({"SET", "l:" + digits, "1 1 1"});

    begin(daily);
    const auto all_follow = [this] {
        return expiring("gw:l:", hours{48} - seconds{60 * 24}, hours{48}) == clients;
    };
    EXPECT_TRUE(run_until(subject.io(), all_follow, minutes{2}));
    EXPECT_EQ(expiring("gw:other:", hours{2} - seconds{60}, hours{2}), 1);
    EXPECT_EQ(command({"GET", "gw:l:" + digits}), "not a bucket");
    EXPECT_EQ(command({"GET", "l:" + digits}), "1 1 1");
    EXPECT_EQ(command({"LLEN", "gw:l:0" + digits.substr(1)}), "1");

    begin(hourly);
    const auto all_back = [this] {
        return expiring("gw:l:", hours{2} - seconds{60}, hours{2}) == clients;
    };
    EXPECT_TRUE(run_until(subject.io(), all_back, minutes{2}));
    EXPECT_EQ(take("l", "0", 1).remaining, 2) << "two owed, all along";
}

TEST_F(rebasing, remembers_who_would_have_been_forgotten_at_the_old_rate)
{
    const auto brisk = *limit::limit::make(2, seconds{1}, 5);
    const charge c{
        .limit_name = "l", .bucket_name = base::hashed_name{"someone"}, .limit = &brisk, .cost = 5};
    answer a;
    ASSERT_EQ(subject.ask({&c, 1}, a), std::nullopt);
    const base::instant full_again = base::now() + milliseconds{2500};
    begin(daily);
    run_until(
        subject.io(), [full_again] { return base::now() > full_again; }, seconds{10}
    );
    const charge later{
        .limit_name = "l", .bucket_name = base::hashed_name{"someone"}, .limit = &daily, .cost = 5};
    ASSERT_EQ(subject.ask({&later, 1}, a), std::nullopt);
    EXPECT_FALSE(a.admitted);
}

TEST_F(rebasing, tries_again_while_the_server_refuses)
{
    take("l", "someone", 1);
    const auto follows = [this] {
        return expiring("gw:l:", hours{24} - seconds{60 * 24}, hours{24}) == 1;
    };
    command({"CONFIG", "SET", "maxmemory", "1"});  // writes are refused
    begin(daily);
    EXPECT_FALSE(run_until(subject.io(), follows, milliseconds{500}));
    command({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_TRUE(run_until(subject.io(), follows));
}

TEST_F(rebasing, that_is_cancelled_changes_nothing_and_keeps_nobody)
{
    take("l", "someone", 1);
    begin(daily);
    walk->cancel();
    run_until(
        subject.io(), [] { return false; }, milliseconds{400}
    );
    EXPECT_EQ(walk.use_count(), 1);
    EXPECT_EQ(expiring("gw:l:", hours{0}, hours{1}), 1);
}

}  // namespace rebasing_test
}  // namespace gateway::store::testing
