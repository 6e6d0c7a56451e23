#include "gateway/net/resolved_name.hpp"

#include "tests/unit/net/loop_end.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include <netinet/in.h>

namespace gateway::net {
namespace resolved_name_test {

using std::chrono::milliseconds;

class names : public ::testing::Test {
protected:
    loop l;
    int answers = 0;

    resolved_name name(const std::string& host, const resolver_options& options = {})
    {
        return resolved_name::of_host(l.get_executor(), host, "80", options, [this] { ++answers; });
    }

    void run_until_answers(int count)
    {
        while (answers < count) {
            l.context().run_one();
        }
    }

    void TearDown() override { testing::end(l); }
};

TEST_F(names, of_addresses_and_sockets_are_known_at_once_and_never_asked_for)
{
    for (const char* host : {"127.0.0.1", "::1"}) {
        const resolved_name n = name(host);
        EXPECT_TRUE(n.known());
        ASSERT_EQ(n.endpoints().size(), 1U);
        const auto family = std::string_view(host) == "::1" ? AF_INET6 : AF_INET;
        EXPECT_EQ(n.endpoints()[0].protocol().family(), family);
    }
    const resolved_name socket = resolved_name::of_socket("/run/x.sock");
    EXPECT_TRUE(socket.known());
    ASSERT_EQ(socket.endpoints().size(), 1U);
    EXPECT_EQ(socket.endpoints()[0].protocol().family(), AF_UNIX);
    EXPECT_EQ(answers, 0);
}

TEST_F(names, are_known_after_the_first_answer_and_asked_for_again_after_refresh)
{
    const resolved_name n =
        name("localhost", {.refresh = milliseconds{1}, .retry = std::chrono::hours{1}});
    EXPECT_FALSE(n.known());
    EXPECT_TRUE(n.endpoints().empty());
    run_until_answers(1);
    EXPECT_TRUE(n.known());
    EXPECT_FALSE(n.endpoints().empty());
    run_until_answers(3);
    EXPECT_FALSE(n.endpoints().empty());
}

TEST_F(names, that_do_not_exist_are_known_to_have_no_address_and_tried_again_after_retry)
{
    const resolved_name n =
        name("nowhere.invalid", {.refresh = std::chrono::hours{1}, .retry = milliseconds{1}});
    run_until_answers(2);
    EXPECT_TRUE(n.known());
    EXPECT_TRUE(n.endpoints().empty());
}

TEST_F(names, are_asked_for_at_once_when_somebody_wants)
{
    resolved_name n = name(
        "nowhere.invalid", {.refresh = resolver_options::never, .retry = resolver_options::never}
    );
    EXPECT_TRUE(n.ask());  // it is being asked already
    run_until_answers(1);
    EXPECT_FALSE(n.error().empty());
    EXPECT_TRUE(n.ask());
    run_until_answers(2);
    resolved_name address = name("127.0.0.1");
    EXPECT_FALSE(address.ask());
    EXPECT_EQ(address.error(), "");
}

TEST_F(names, keep_no_more_addresses_than_they_may)
{
    const resolved_name none = name("localhost", {.max_addresses = 0});
    run_until_answers(1);
    EXPECT_TRUE(none.endpoints().empty());
    const resolved_name one = name("localhost", {.max_addresses = 1});
    run_until_answers(2);
    EXPECT_EQ(one.endpoints().size(), 1U);
}

TEST_F(names, that_have_stopped_tell_nobody_and_keep_what_they_know)
{
    resolved_name n = name("localhost");
    run_until_answers(1);
    n.stop();
    EXPECT_FALSE(n.endpoints().empty());
    {
        const resolved_name gone = name("localhost");  // while it is asked for
    }
    l.context().poll();
    EXPECT_EQ(answers, 1);
}

}  // namespace resolved_name_test
}  // namespace gateway::net
