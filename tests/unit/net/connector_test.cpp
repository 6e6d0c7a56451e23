#include "gateway/net/connector.hpp"

#include "gateway/net/listener.hpp"
#include "tests/unit/net/loop_end.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace gateway::net {
namespace connector_test {

using std::chrono::milliseconds;

class connecting : public ::testing::Test {
protected:
    loop l;
    std::optional<bool> connected;

    std::shared_ptr<connector> to(const std::string& host, unsigned short port)
    {
        return std::make_shared<connector>(
            l.get_executor(), server_address{host, std::to_string(port), {}}, std::chrono::hours{1}
        );
    }

    void begin(const std::shared_ptr<connector>& c)
    {
        connected.reset();
        boost::asio::co_spawn(
            l.get_executor(),
            [this, c]() -> task<> {
                const stream_socket s = co_await c->connect();
                connected = s.is_open();
            },
            boost::asio::detached
        );
    }

    bool connects(const std::shared_ptr<connector>& c)
    {
        begin(c);
        while (!connected) {
            l.context().run_one();
        }
        return *connected;
    }

    void TearDown() override { testing::end(l); }
};

TEST_F(connecting, finds_a_server_by_address_and_by_name)
{
    const socket s = open_listening_socket({.host = "127.0.0.1", .port = 0, .socket_path = {}});
    for (const char* host : {"127.0.0.1", "localhost"}) {
        const auto c = to(host, bound_port(s));
        EXPECT_TRUE(connects(c)) << host;
        EXPECT_TRUE(connects(c)) << host << " again";
        EXPECT_EQ(c->address().text(), host + (":" + std::to_string(bound_port(s))));
        c->cancel();
    }
}

TEST_F(connecting, says_why_it_failed)
{
    const auto port = [] {
        return bound_port(open_listening_socket({.host = "127.0.0.1", .port = 0, .socket_path = {}})
        );
    };
    const auto refused = to("127.0.0.1", port());
    EXPECT_FALSE(connects(refused));
    EXPECT_EQ(refused->detail(), "Connection refused");
    EXPECT_FALSE(refused->timed_out());

    const auto unknown = to("nowhere.invalid", 1);
    EXPECT_FALSE(connects(unknown));
    EXPECT_NE(unknown->detail(), "");
    unknown->cancel();

    const auto no_file = std::make_shared<connector>(
        l.get_executor(), server_address{{}, {}, "/nowhere/redis.sock"}, std::chrono::hours{1}
    );
    EXPECT_FALSE(connects(no_file));
    EXPECT_EQ(no_file->detail(), "No such file or directory");
    EXPECT_EQ(no_file->address().text(), "/nowhere/redis.sock");
}

// A queue of one that nobody accepts from: the kernel ignores who comes then.
TEST_F(connecting, gives_up_in_time)
{
    const socket full = open_listening_socket({.host = "127.0.0.1", .port = 0, .socket_path = {}});
    ASSERT_EQ(::listen(full.fd(), 0), 0);
    const auto c = std::make_shared<connector>(
        l.get_executor(),
        server_address{"127.0.0.1", std::to_string(bound_port(full)), {}},
        milliseconds{50}
    );
    int accepted = 0;
    while (accepted < 10 && connects(c)) {
        ++accepted;
    }
    EXPECT_TRUE(c->timed_out());
}

TEST_F(connecting, is_over_at_once_when_it_is_cancelled)
{
    for (const char* host : {"127.0.0.1", "localhost"}) {
        const auto c = to(host, 1);
        begin(c);
        c->cancel();
        while (!connected) {
            l.context().run_one();
        }
        EXPECT_FALSE(*connected);
    }
}

}  // namespace connector_test
}  // namespace gateway::net
