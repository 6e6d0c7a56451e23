#include "gateway/proxy/silence_state.hpp"

#include <gtest/gtest.h>

namespace gateway::proxy {
namespace silence_state_test {

using step = silence_state::step;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr base::instant start{std::chrono::hours{1}};

TEST(silence_state, asks_after_ten_seconds_and_gives_up_after_five_more)
{
    silence_state s;
    s.begin(start);
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
    s.begin(start);
    s.heard(start + seconds{8});
    s.heard_message();
    EXPECT_EQ(s.next(start + seconds{10}), step::wait);
    EXPECT_EQ(s.deadline(), start + seconds{18});
}

// Whatever is sent to the server, and however many requests begin: PINGs without a message of the
// server between them are six minutes apart.
TEST(silence_state, asks_rarely_while_no_message_comes)
{
    silence_state s;
    s.begin(start);
    base::instant now = start;
    std::optional<base::instant> asked;
    for (int i = 0; i < 2000; ++i) {
        now += seconds{1};
        if (i % 61 == 0) {  // a request after a time without any
            s.begin(now);
        }
        if (s.next(now) == step::ask) {
            EXPECT_TRUE(!asked || now - *asked >= minutes{6});
            asked = now;
            s.heard(now);  // the answer
        }
    }
    EXPECT_TRUE(asked);
}

TEST(silence_state, asks_again_soon_after_a_message)
{
    silence_state s;
    s.begin(start);
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
