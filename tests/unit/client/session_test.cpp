// The shell of a client connection, over a real socket and a real loop. No route matches, so every
// request is answered by the gateway itself.
#include "gateway/client/session.hpp"

#include "tests/unit/client/worker_parts.hpp"

#include <climits>
#include <gmock/gmock.h>

#include <array>
#include <fcntl.h>
#include <list>
#include <sys/socket.h>
#include <unistd.h>

namespace gateway::client {
namespace session_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

class shell : public ::testing::Test {
private:
    struct nowhere {
        const int fd = ::open("/dev/null", O_WRONLY | O_CLOEXEC);

        ~nowhere() { ::close(fd); }
    };

    const listener_options listener_;
    nowhere nowhere_;  // outlives the writer's thread
    telemetry::route_metrics no_route_;
    testing::worker_parts parts_{nowhere_.fd, [this](session& s) { sessions_.erase(s.self); }};
    std::list<session> sessions_;

protected:
    net::loop& loop = parts_.loop;
    std::shared_ptr<const limits::policy_view>& view = parts_.view;
    telemetry::worker_metrics& metrics = parts_.metrics;
    http1_pool& connections = parts_.connections;

    shell() { view = make_view({}); }

    ~shell() override
    {
        for (auto& s : sessions_) {
            s.abort();
        }
        run_until([this] { return sessions_.empty(); });
    }

    std::shared_ptr<const limits::policy_view> make_view(const http::options& options)
    {
        auto v = std::make_shared<limits::policy_view>();
        v->policy = std::make_shared<policy::policy>();
        v->http = options;
        v->via_name = "gateway";
        v->no_route = &no_route_;
        return v;
    }

    // The client's end of a new connection.
    int connect()
    {
        std::array<int, 2> ends{};
        EXPECT_EQ(
            ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0
        );
        session& s = sessions_.emplace_back(
            parts_.environment, net::socket(ends[0]), base::ip_address::v4(0x7f000001), listener_
        );
        s.self = std::prev(sessions_.end());
        s.start();
        return ends[1];
    }

    std::size_t open() const { return sessions_.size(); }

    void drain()
    {
        for (auto& s : sessions_) {
            s.drain();
        }
    }

    static void say(int client, std::string_view bytes)
    {
        EXPECT_EQ(
            ::send(client, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size())
        );
    }

    // What comes until there is something, and no more of it.
    std::string hear(int client)
    {
        std::array<char, 4096> bytes{};
        ssize_t n = -1;
        run_until([&] {
            n = ::recv(client, bytes.data(), bytes.size(), 0);
            return n >= 0;
        });
        return {bytes.data(), static_cast<std::size_t>(n)};
    }

    template <typename Done>
    void run_until(Done done)
    {
        while (!done()) {
            loop.context().run_one_for(std::chrono::milliseconds{5});
            loop.wheel().advance(loop.refresh_now());
        }
    }

    // Asks, one request a turn, and reads nothing, until an answer cannot be sent whole; how often.
    // The session is at rest then.
    int ask_until_held_back(int client)
    {
        int asked = 0;
        while (!sessions_.back().sending() && asked < 100'000) {
            say(client, get);
            ++asked;
            loop.context().poll();
        }
        EXPECT_TRUE(sessions_.back().sending());
        return asked;
    }

    // All that comes up to the end, or until there have been as many answers.
    int count_answers(int client, int most = INT_MAX)
    {
        constexpr std::string_view start = "HTTP/1.1 404 ";
        std::string all;
        int answers = 0;
        const auto count = [&] {
            answers = 0;
            for (auto at = all.find(start); at != std::string::npos; at = all.find(start, at + 1)) {
                ++answers;
            }
            return answers;
        };
        while (count() < most || !all.ends_with("}")) {
            const std::string more = hear(client);
            if (more.empty()) {
                break;
            }
            all += more;
        }
        return answers;
    }
};

TEST_F(shell, serves_one_client_after_the_other)
{
    const int a = connect();
    const int b = connect();
    for (const int client : {a, b, a, a, b}) {
        say(client, get);
        EXPECT_THAT(hear(client), StartsWith("HTTP/1.1 404 "));
    }
    EXPECT_EQ(metrics.clients_idle.value(), 2);
    EXPECT_EQ(metrics.clients_active.value(), 0);
    ::close(a);
    run_until([this] { return open() == 1; });
    ::close(b);
    run_until([this] { return open() == 0; });
    EXPECT_EQ(metrics.clients_idle.value(), 0);
}

TEST_F(shell, keeps_no_old_configuration_while_its_connection_is_idle)
{
    const int client = connect();
    say(client, get);
    hear(client);
    const std::weak_ptr<const limits::policy_view> before = view;
    view = make_view({});
    EXPECT_FALSE(before.expired());  // a spare one has it
    connections.trim(*view);
    EXPECT_TRUE(before.expired());
    say(client, get);
    EXPECT_THAT(hear(client), StartsWith("HTTP/1.1 404 "));
    ::close(client);
}

TEST_F(shell, has_a_deadline_for_each_kind_of_waiting)
{
    view = make_view({
        .header_timeout = std::chrono::milliseconds{50},
        .idle_timeout = std::chrono::milliseconds{100},
        .linger_timeout = std::chrono::milliseconds{50},
    });
    const int silent = connect();
    EXPECT_EQ(hear(silent), "");
    run_until([this] { return open() == 0; });

    const int slow = connect();
    say(slow, "GET / HT");
    EXPECT_THAT(hear(slow), StartsWith("HTTP/1.1 408 "));
    EXPECT_EQ(hear(slow), "");
    run_until([this] { return open() == 0; });  // though the client never closes

    const int again = connect();
    say(again, get);
    EXPECT_THAT(hear(again), HasSubstr(" 404 "));
    EXPECT_EQ(hear(again), "");
    for (const int client : {silent, slow, again}) {
        ::close(client);
    }
}

TEST_F(shell, ends_what_is_idle_when_it_drains_and_finishes_what_is_begun)
{
    const int idle = connect();
    const int begun = connect();
    say(begun, "GET / HTTP/1.1\r\n");
    run_until([this] { return metrics.clients_active.value() == 1; });
    drain();
    EXPECT_EQ(hear(idle), "");
    say(begun, "Host: h\r\n\r\n");
    EXPECT_THAT(hear(begun), HasSubstr("\r\nConnection: close\r\n"));
    ::close(idle);
    ::close(begun);
}

TEST_F(shell, at_rest_sends_on_what_its_client_did_not_take_and_serves_it_again)
{
    const int client = connect();
    const int asked = ask_until_held_back(client);
    say(client, get);  // waits
    loop.context().poll();
    EXPECT_EQ(count_answers(client, asked + 1), asked + 1);
    say(client, get);
    EXPECT_THAT(hear(client), StartsWith("HTTP/1.1 404 "));
    ::close(client);
}

TEST_F(shell, at_rest_sends_all_to_a_client_that_has_ended_its_side)
{
    for (const bool one_more : {false, true}) {
        const int client = connect();
        const int asked = ask_until_held_back(client);
        if (one_more) {
            say(client, get);
        }
        ::shutdown(client, SHUT_WR);
        loop.context().poll();
        EXPECT_GE(count_answers(client), asked);
        run_until([this] { return open() == 0; });
        ::close(client);
    }
}

TEST_F(shell, at_rest_sends_all_when_it_drains)
{
    const int client = connect();
    const int asked = ask_until_held_back(client);
    ::shutdown(client, SHUT_WR);
    loop.context().poll();
    drain();
    EXPECT_GE(count_answers(client), asked);
    run_until([this] { return open() == 0; });
    ::close(client);
}

TEST_F(shell, at_rest_ends_a_client_that_takes_nothing)
{
    view = make_view({.body_timeout = std::chrono::milliseconds{50}});
    const int client = connect();
    ask_until_held_back(client);
    run_until([this] { return open() == 0; });
    ::close(client);
}

}  // namespace session_test
}  // namespace gateway::client
