// Requests whose content is read before they are decided about.
#include "tests/unit/client/request_stream.hpp"

namespace gateway::client {
namespace request_ahead_test {

using namespace testing;

class requests_read_ahead : public ::testing::Test {
protected:
    stream s;

    void SetUp() override
    {
        s.decision.next = limits::admission::action::read;
        s.head_ahead.method = "POST";
        s.head_ahead.path = "/";
        s.head_ahead.body = chunks;
        s.begin("POST", chunks);
        EXPECT_EQ(s.request.at(), phase::reading);
        EXPECT_TRUE(s.request.accepts_content() && s.request.wants_content());
        EXPECT_EQ(s.request.waits_for(), timeout::content);
    }
};

TEST_F(requests_read_ahead, go_on_when_they_are_whole)
{
    s.request.content("hel", false);
    EXPECT_EQ(s.sent, "");
    s.request.content("lo", true, "X-A: 1\r\n");
    EXPECT_TRUE(s.sent.ends_with("\r\n\r\n5\r\nhello\r\n0\r\nX-A: 1\r\n\r\n")) << s.sent;
    EXPECT_TRUE(s.ahead_was_sent);
    EXPECT_FALSE(s.request.accepts_content());
    s.upstream_says(ok);
    EXPECT_EQ(s.over, ending::done);
    EXPECT_EQ(s.counted->request_bytes, 5U);
    EXPECT_EQ(s.seen_later, "");
}

TEST_F(requests_read_ahead, go_on_when_enough_has_come_and_are_read_on)
{
    s.reading_says = content_reading::enough;
    s.request.content("hello", false);
    EXPECT_TRUE(s.sent.ends_with("\r\n\r\n5\r\nhello\r\n")) << s.sent;
    s.request.content(" world", false);
    EXPECT_EQ(s.seen_later, " world");
    s.later_is_good = false;
    s.request.content("!", true);
    EXPECT_EQ(s.sent.find('!'), std::string::npos) << "the end never comes";
    EXPECT_EQ(s.status, 400);
    EXPECT_EQ(s.over, ending::done);
}

TEST_F(requests_read_ahead, wait_for_a_decision_and_a_connection)
{
    s.by_content.next = limits::admission::action::wait;
    s.lease_says = proxy::exchange_port::lease_progress::pending;
    s.request.content("hello", true);
    EXPECT_EQ(s.request.at(), phase::admitting);
    s.request.admitted({});
    EXPECT_FALSE(s.ahead_was_sent);
    s.connected = true;
    s.request.leased();
    EXPECT_TRUE(s.ahead_was_sent);
    EXPECT_TRUE(s.sent.ends_with("5\r\nhello\r\n0\r\n\r\n")) << s.sent;
}

TEST_F(requests_read_ahead, are_refused_by_their_content)
{
    s.by_content = limits::refusal(429, "too many");
    s.request.content("hello", true);
    EXPECT_EQ(s.status, 429);
    EXPECT_EQ(s.sent, "");
    EXPECT_EQ(s.over, ending::done);
}

TEST_F(requests_read_ahead, have_one_time_for_all_of_it)
{
    s.request.content("h", false);
    s.request.expired();
    EXPECT_EQ(s.status, 408);
    EXPECT_EQ(s.over, ending::done);
}

TEST_F(requests_read_ahead, are_refused_without_room)
{
    s.reading_says = content_reading::no_room;
    s.request.content("hello", false);
    EXPECT_EQ(s.status, 503);
    EXPECT_EQ(s.over, ending::done);
}

TEST_F(requests_read_ahead, end_with_their_client)
{
    s.request.content("hello", false);
    s.request.client_closed(true);
    EXPECT_EQ(s.over, ending::closed);
    EXPECT_EQ(s.counted->status, 0);
    EXPECT_TRUE(s.counted->given_up);
}

TEST_F(requests_read_ahead, are_bounded_as_all_bodies)
{
    s.bounds.max_body_bytes = 4;
    s.request.content("hello", false);
    EXPECT_EQ(s.status, 413);
}

}  // namespace request_ahead_test
}  // namespace gateway::client
