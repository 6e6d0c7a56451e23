#include "gateway/http/own_answers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace gateway::http {
namespace {

using namespace std::chrono_literals;

// Every part of an answer is one of a few, so that many answers are equal to the one before in all
// but one part, and many in all.
class few_answers {
public:
    own_answer next()
    {
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            if (random_() % chosen_.size() == 0) {
                chosen_[i] = random_() % 2 == 0;
            }
        }
        std::size_t i = 0;
        const auto is = [&] { return chosen_[i++]; };
        reports_.clear();
        constexpr int which[2][2] = {{0, 1}, {2, 0}};
        if (is()) {
            reports_.push_back(report(which[is()][is()], is(), is(), is(), is()));
        }
        if (is() && is()) {
            reports_.push_back(report(0, false, false, false, true));
        }
        return {
            .status = is() ? 429 : 503,
            .detail = is() ? "slow down" : "slow  down",
            .limits =
                {.reports = reports_,
                 .options = {.x_ratelimit = is(), .reset_as_epoch = is(), .ratelimit = is()},
                 .unix_now = is() ? 1700000000s : 1700000001s},
            .retry_after = is()   ? 0ns
                           : is() ? 1500ms
                                  : 2500ms,
            .date = is() ? "Date: now\r\n" : "Date: new\r\n",
            .extra = is() && is() ? "Allow: OPTIONS\r\n" : "",
            .close = is(),
            .keep_alive_1_0 = is(),
            .head_only = is() && is(),
        };
    }

private:
    std::mt19937 random_{7};
    std::array<bool, 28> chosen_{};
    std::vector<limit_report> reports_;
    std::array<limit::limit, 3> limits_{
        limit::limit::make(1, 1s, 5).value(),
        limit::limit::make(1, 60s, 5).value(),  // of the same burst as the first
        limit::limit::make(2, 1s, 10).value(),  // as long from empty to full as the first
    };

    limit_report report(int limit, bool other, bool allowed, bool left, bool late)
    {
        return {
            other ? "a" : "b",
            &limits_[static_cast<std::size_t>(limit)],
            {.allowed = allowed, .remaining = left ? 1 : 0, .reset_after = late ? 1001ms : 1000ms}};
    }
};

TEST(own_answers, are_the_same_as_if_none_was_remembered)
{
    few_answers answers;
    own_answers remembering;
    std::string last;
    int again = 0;
    for (int i = 0; i < 100'000; ++i) {
        const own_answer answer = answers.next();
        std::string expected = "before";
        const std::size_t content = append_own_answer(answer, expected);
        std::string out = "before";
        ASSERT_EQ(remembering.append(answer, out), content);
        ASSERT_EQ(out, expected);
        again += expected == last ? 1 : 0;
        last = expected;
    }
    EXPECT_GT(again, 1000);
}

}  // namespace
}  // namespace gateway::http
