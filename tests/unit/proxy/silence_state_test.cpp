#include "gateway/proxy/silence_state.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gateway::proxy {
namespace silence_state_test {

using step = silence_state::step;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr base::instant start{std::chrono::hours{1}};

TEST(silence_state, asks_after_ten_seconds_and_gives_up_after_five_more)
{
    silence_state s;
    s.begin(start, true);
    EXPECT_EQ(s.deadline(), start + seconds{10});
    EXPECT_EQ(s.next(start + seconds{9}), step::wait);
    EXPECT_EQ(s.next(start + seconds{10}), step::ask);
    EXPECT_EQ(s.deadline(), start + seconds{15});
    EXPECT_EQ(s.next(start + seconds{14}), step::wait);
    EXPECT_EQ(s.next(start + seconds{15}), step::lost);
}

TEST(silence_state, waits_for_ten_seconds_of_silence)
{
    silence_state s;
    s.begin(start, true);
    s.heard(start + seconds{8});
    s.heard_message();
    EXPECT_EQ(s.next(start + seconds{10}), step::wait);
    EXPECT_EQ(s.deadline(), start + seconds{18});
}

// However many requests begin, a server that answers PINGs and sends nothing else gets three of
// them in six minutes.
TEST(silence_state, asks_rarely_while_no_message_comes)
{
    for (const int every : {1, 7, 61, 1000}) {
        silence_state s;
        s.begin(start, true);
        std::vector<base::instant> asked;
        for (int i = 1; i < 2000; ++i) {
            const base::instant now = start + seconds{i};
            if (i % every == 0) {
                s.begin(now, false);
            }
            if (s.next(now) == step::ask) {
                asked.push_back(now);
                s.heard(now);  // the answer
            }
        }
        ASSERT_GE(asked.size(), 5U);
        for (std::size_t i = 3; i < asked.size(); ++i) {
            EXPECT_GE(asked[i] - asked[i - 3], minutes{5}) << every << " " << i;
        }
    }
}

TEST(silence_state, asks_for_a_request_that_began_after_the_last_answer)
{
    silence_state s;
    s.begin(start, true);
    EXPECT_EQ(s.next(start + seconds{10}), step::ask);
    s.heard(start + seconds{10});
    EXPECT_EQ(s.next(start + seconds{60}), step::wait);
    s.begin(start + seconds{60}, false);
    EXPECT_EQ(s.next(start + seconds{60}), step::ask) << "nothing was heard for long";
    EXPECT_EQ(s.next(start + seconds{65}), step::lost);
}

TEST(silence_state, asks_again_soon_after_a_message)
{
    silence_state s;
    s.begin(start, true);
    EXPECT_EQ(s.next(start + seconds{10}), step::ask);
    s.heard(start + seconds{11});
    EXPECT_EQ(s.deadline(), start + seconds{10} + minutes{6});
    s.heard(start + seconds{20});
    s.heard_message();
    EXPECT_EQ(s.deadline(), start + seconds{30});
    EXPECT_EQ(s.next(start + seconds{30}), step::ask);
}

}  // namespace silence_state_test
}  // namespace gateway::proxy
