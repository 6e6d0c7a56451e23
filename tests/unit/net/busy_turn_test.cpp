// Turns of so many events that what is sent waits until they end: what one event sent, another may
// find still waiting.
#include "gateway/net/connection.hpp"
#include "tests/unit/net/loop_end.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace gateway::net {
namespace busy_turn_test {

constexpr std::size_t events = outbox::max_sends + 8;
static_assert(events >= poller::min_gathered && events <= poller::max_events);

class pair final : public connection {
public:
    std::function<void(pair&)> when_readable;
    bool gone = false;

    static std::unique_ptr<pair> make(loop& l)
    {
        std::array<int, 2> ends{};
        EXPECT_EQ(
            ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0
        );
        return std::make_unique<pair>(l, ends);
    }

    pair(loop& l, const std::array<int, 2>& ends) : connection(l, socket(ends[0])), peer_(ends[1])
    {}

    ~pair() override { ::close(peer_); }

    void peer_says(std::string_view bytes) const
    {
        EXPECT_EQ(::write(peer_, bytes.data(), bytes.size()), std::ssize(bytes));
    }

    // What has come, and "." for the end.
    std::string peer_takes() const
    {
        std::array<char, 65536> some;
        std::string all;
        ssize_t n = 0;
        while ((n = ::read(peer_, some.data(), some.size())) > 0) {
            all.append(some.data(), static_cast<std::size_t>(n));
        }
        return n == 0 || errno != EAGAIN ? all + '.' : all;
    }

private:
    int peer_;

    void readable() override { when_readable(*this); }

    void drained() override {}

    void broken() override {}

    void released() override { gone = true; }
};

class busy_turns : public ::testing::Test {
protected:
    loop l;
    std::vector<std::unique_ptr<pair>> pairs;
    // In the order of their events.
    std::vector<pair*> told;

    busy_turns()
    {
        for (std::size_t i = 0; i < events; ++i) {
            pairs.push_back(pair::make(l));
            pairs.back()->want_read();
        }
        l.context().poll();  // they can send
    }

    // One turn, in which every connection hears something and does this.
    void turn(const std::function<void(pair&)>& act)
    {
        for (const auto& p : pairs) {
            p->when_readable = [this, &act](pair& self) {
                told.push_back(&self);
                act(self);
            };
            p->peer_says("x");
        }
        while (told.empty()) {
            l.context().run_one();
        }
        ASSERT_EQ(told.size(), events);
    }

    void TearDown() override
    {
        for (const auto& p : pairs) {
            p->close();
            while (!p->gone) {
                l.context().run_one();
            }
        }
        testing::end(l);
    }
};

TEST_F(busy_turns, send_when_they_end)
{
    turn([this](pair& self) {
        if (told.size() <= 2) {
            EXPECT_EQ(self.send("a"), sent::all);
        }
        EXPECT_EQ(told.front()->peer_takes(), "");
    });
    EXPECT_EQ(told[0]->peer_takes(), "a");
    EXPECT_EQ(told[1]->peer_takes(), "a");
}

TEST_F(busy_turns, send_what_waits_of_a_connection_that_another_event_ends)
{
    turn([this](pair& self) {
        if (told.size() <= 3) {
            EXPECT_EQ(self.send("bye"), sent::all);
        } else if (told.size() == 4) {
            told[0]->close();
            told[1]->reset();
            told[2]->finish_sending();
        }
    });
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(told[i]->peer_takes(), "bye.");
    }
}

TEST_F(busy_turns, keep_the_order_of_what_waits_and_what_another_event_sends)
{
    const std::string large(outbox::max_send_bytes + 1, 'b');
    turn([&](pair& self) {
        if (told.size() == 1) {
            EXPECT_EQ(self.send("a"), sent::all);
        } else if (told.size() == 2) {
            EXPECT_EQ(told[0]->send(large), sent::all);
            EXPECT_EQ(told[0]->send("c"), sent::all);
        }
    });
    EXPECT_EQ(told[0]->peer_takes(), "a" + large + "c");
}

TEST_F(busy_turns, send_early_when_more_connections_send_than_are_gathered)
{
    turn([this](pair& self) {
        EXPECT_EQ(self.send("a"), sent::all);
        if (told.size() == outbox::max_sends) {
            EXPECT_EQ(told[0]->peer_takes(), "");
        } else if (told.size() == outbox::max_sends + 1) {
            EXPECT_EQ(told[0]->peer_takes(), "a");
            told[0]->close();  // nothing of it waits any more
        }
    });
    EXPECT_EQ(told[0]->peer_takes(), ".");
    for (std::size_t i = 1; i < events; ++i) {
        EXPECT_EQ(told[i]->peer_takes(), "a");
    }
}

}  // namespace busy_turn_test
}  // namespace gateway::net
