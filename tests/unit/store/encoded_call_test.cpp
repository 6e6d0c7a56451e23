#include "gateway/store/remote/encoded_call.hpp"

#include "gateway/limit/limit.hpp"
#include "gateway/store/remote/reply_parser.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::store {
namespace encoded_call_test {

struct asker final : question {
    void answered(const answer&) override {}

    void failed(failure, taken) override {}
};

// Questions at random: of few buckets, so that many are asked of again, by one charge or two.
class random_call {
public:
    explicit random_call(unsigned seed) : random_(seed)
    {
        charges_.reserve(call::max_questions);
        for (std::size_t i = 0; i < call::max_questions; ++i) {
            std::vector<charge>& q = charges_.emplace_back();
            const int count = one_of(8) == 0 ? 2 : 1;
            for (int c = 0; c < count; ++c) {
                q.push_back(any_charge());
            }
            asked.questions[i].hold(askers_[i], q, {}, {});
        }
        asked.count = call::max_questions;
        asked.number = 7;
    }

    call asked;

private:
    std::minstd_rand random_;
    const limit::limit slow_ = *limit::limit::make(1, std::chrono::hours{1}, 5);
    const limit::limit fast_ = *limit::limit::make(7, std::chrono::seconds{1}, 5);
    std::array<asker, call::max_questions> askers_;
    std::vector<std::vector<charge>> charges_;

    int one_of(int many) { return static_cast<int>(random_() % static_cast<unsigned>(many)); }

    charge any_charge()
    {
        static const std::array<std::string, 6> names{"a", "b", "c", "d", "e", "f"};
        return {
            .limit_name = one_of(4) == 0 ? "m" : "l",
            .bucket_name = base::hashed_name{names[static_cast<std::size_t>(one_of(6))]},
            .limit = one_of(4) == 0 ? &fast_ : &slow_,
            .cost = 1 + one_of(7),  // also more than a bucket holds
            .enforced = one_of(4) != 0,
            .looks = one_of(8) == 0};
    }
};

// What take.lua relies on: it reads these buckets together, and writes each when it is decided.
TEST(encode, has_no_bucket_twice_among_questions_that_are_encoded_together)
{
    std::size_t together = 0;
    for (unsigned seed = 1; seed <= 2'000; ++seed) {
        random_call made{seed};
        bring_together(made.asked);
        const encoded_call encoded = encode(made.asked, {.key_prefix = ""});
        std::size_t key = 0;
        std::size_t asked = call::max_questions;
        for (const simple_charges& s : encoded.shape) {
            std::set<std::string_view> buckets;
            for (std::int64_t i = 0; i < s.keys; ++i) {
                const bool is_new = buckets.insert(encoded.keys[key++]).second;
                EXPECT_TRUE(is_new || s.cost > s.burst) << "seed " << seed;
            }
            together += s.keys > 1 ? 1U : 0U;
            asked -= static_cast<std::size_t>(s.times * std::max<std::int64_t>(s.keys, 1));
            if (s.keys == 0) {
                key += made.asked.questions[call::max_questions - asked - 1].charges.size();
            }
        }
        EXPECT_EQ(asked, 0U) << "seed " << seed;
        EXPECT_EQ(key + 1, encoded.keys.size()) << "seed " << seed << ": behind them is the mark's";
    }
    EXPECT_GT(together, 1'000U);
}

TEST(question_walk, comes_by_every_question)
{
    const std::vector<simple_charges> shape{{.times = 2, .keys = 3}, {.times = 2}, {.keys = 1}};
    question_walk walk{shape};
    std::vector<std::pair<std::int64_t, std::int64_t>> seen;
    for (; !walk.ended(); walk.go_on()) {
        seen.emplace_back(walk.asked().keys, walk.before());
    }
    const decltype(seen) all{
        {3, 0}, {3, 1}, {3, 0}, {3, 1}, {3, 0}, {3, 1}, {0, 0}, {0, 1}, {1, 0}};
    EXPECT_EQ(seen, all);
}

TEST(passing, is_what_the_algebra_lets_through)
{
    for (std::int64_t cost = 0; cost <= 6; ++cost) {
        for (std::int64_t debt = 0; debt <= 70; ++debt) {
            const simple_charges asked{
                .times = 4, .cost = cost, .interval = 10, .burst = 5, .keys = 1};
            std::int64_t passed = 0;
            for (std::int64_t owed = debt; passed < 4 && owed + cost * 10 <= 50; ++passed) {
                owed += cost * 10;
            }
            EXPECT_EQ(passing(asked, debt), passed) << cost << " of " << debt;
        }
    }
}

}  // namespace encoded_call_test
}  // namespace gateway::store
