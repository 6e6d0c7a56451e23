#include "gateway/net/alarm.hpp"

#include "gateway/net/loop.hpp"
#include "tests/unit/net/loop_end.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace gateway::net {
namespace alarm_test {

using std::chrono::hours;
using std::chrono::milliseconds;

class ringing : public ::testing::Test {
protected:
    loop l;
    int rung = 0;
    std::optional<alarm> a{std::in_place, l.get_executor(), [this] { ++rung; }};

    // Until a timer set now has ended: those that were due before it have then, too.
    void pass()
    {
        bool over = false;
        timer end(l.get_executor());
        end.expires_after(milliseconds{1});
        end.async_wait([&over](const boost::system::error_code&) { over = true; });
        while (!over) {
            l.context().run_one();
        }
    }

    void TearDown() override { testing::end(l); }
};

TEST_F(ringing, comes_once_each_time_it_is_set)
{
    a->set(base::duration{0});
    pass();
    EXPECT_EQ(rung, 1);
    pass();
    EXPECT_EQ(rung, 1);
    a->set(base::now());
    pass();
    EXPECT_EQ(rung, 2);
}

TEST_F(ringing, comes_at_the_moment_that_was_set_last)
{
    a->set(base::duration{0});
    a->set(hours{1});
    pass();
    EXPECT_EQ(rung, 0);
    a->set(base::duration{0});
    pass();
    EXPECT_EQ(rung, 1);
}

TEST_F(ringing, does_not_come_when_cancelled_or_destroyed)
{
    a->set(base::duration{0});
    a->cancel();
    pass();
    a->set(base::duration{0});
    a.reset();
    pass();
    EXPECT_EQ(rung, 0);
}

// Its timer has ended and its call is on its way: what was posted before runs first.
TEST_F(ringing, does_not_come_when_cancelled_on_its_way)
{
    alarm first(l.get_executor(), [this] { a->cancel(); });
    alarm second(l.get_executor(), [this] { a.reset(); });
    first.set(base::instant{});
    a->set(base::instant{} + milliseconds{1});
    pass();
    EXPECT_EQ(rung, 0);
    second.set(base::instant{});
    a->set(base::instant{} + milliseconds{1});
    pass();
    EXPECT_EQ(rung, 0);
}

TEST_F(ringing, may_set_or_destroy_itself)
{
    std::optional<alarm> own;
    int left = 3;
    own.emplace(l.get_executor(), [&] {
        if (--left > 0) {
            own->set(base::duration{0});
        } else {
            own.reset();
        }
    });
    own->set(base::duration{0});
    while (own) {
        l.context().run_one();
    }
    EXPECT_EQ(left, 0);
}

}  // namespace alarm_test
}  // namespace gateway::net
