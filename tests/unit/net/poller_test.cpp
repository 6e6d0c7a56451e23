#include "gateway/net/poller.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gateway::net {
namespace poller_test {

class recorder final : public watcher {
public:
    explicit recorder(poller& p) : poller_(p) {}

    std::uint32_t events = 0;
    int readies = 0;
    int rechecks = 0;
    int releases = 0;
    int again_wanted = 0;
    bool release_wanted = false;

    void ready(std::uint32_t epoll_events) override
    {
        ++readies;
        events |= epoll_events;
        ask();
    }

    void recheck() override
    {
        ++rechecks;
        ask();
    }

    void released() override { ++releases; }

private:
    poller& poller_;

    void ask()
    {
        if (again_wanted > 0) {
            --again_wanted;
            poller_.again(*this);
        }
        if (release_wanted) {
            release_wanted = false;
            poller_.again(*this);
            poller_.release(*this);
        }
    }
};

class pollers : public ::testing::Test {
protected:
    boost::asio::io_context context{1};
    base::turn_clock clock;
    poller p{context, clock};
    recorder w{p};
    std::array<int, 2> ends{};

    pollers()
    {
        EXPECT_EQ(
            ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0
        );
        EXPECT_TRUE(p.add(ends[0], w));
    }

    ~pollers() override
    {
        p.close();
        ::close(ends[0]);
        if (ends[1] >= 0) {
            ::close(ends[1]);
        }
        context.run();  // ends, or the test hangs
    }

    void run() { context.poll(); }

    void say(std::string_view text) { (void)::write(ends[1], text.data(), text.size()); }
};

TEST_F(pollers, tell_once_of_each_change)
{
    const base::instant before = base::now();
    run();
    EXPECT_GE(clock.now(), before) << "the clock was read";
    EXPECT_EQ(w.readies, 1);
    EXPECT_TRUE(w.events & EPOLLOUT);
    EXPECT_FALSE(w.events & EPOLLIN);
    run();
    EXPECT_EQ(w.readies, 1) << "it is still writable, which is no news";
    say("a");
    run();
    EXPECT_EQ(w.readies, 2);
    EXPECT_TRUE(w.events & EPOLLIN);
    run();
    EXPECT_EQ(w.readies, 2) << "nobody has read it, which is no news";
    ::close(ends[1]);
    ends[1] = -1;
    run();
    EXPECT_EQ(w.readies, 3);
    EXPECT_TRUE(w.events & EPOLLRDHUP);
}

TEST_F(pollers, look_again_later_and_never_from_inside_the_call)
{
    p.again(w);
    EXPECT_EQ(w.rechecks, 0);
    run();
    EXPECT_EQ(w.rechecks, 1);
    w.again_wanted = 1;
    say("a");
    run();
    EXPECT_EQ(w.rechecks, 2) << "asked for while the events were told";
}

TEST_F(pollers, let_others_have_their_turn_between_two_looks)
{
    run();
    w.again_wanted = 100;
    p.again(w);
    int turns = 0;
    while (w.again_wanted > 0) {
        const int before = w.rechecks;
        context.run_one();
        EXPECT_LE(w.rechecks, before + 1);
        ++turns;
    }
    EXPECT_GE(turns, 100);
}

TEST_F(pollers, look_no_more_after_the_release)
{
    w.release_wanted = true;
    run();
    EXPECT_EQ(w.readies, 1);
    EXPECT_EQ(w.rechecks, 1) << "asked for before";
    EXPECT_EQ(w.releases, 1);
    p.release(w);
    p.release(w);
    EXPECT_EQ(w.releases, 1);
    run();
    EXPECT_EQ(w.releases, 3);
}

TEST_F(pollers, forget_what_a_released_one_asked_for_while_it_was_looked_at)
{
    run();
    w.again_wanted = 1;  // from the recheck that comes before its release
    p.again(w);
    p.release(w);
    run();
    EXPECT_EQ(w.rechecks, 1);
    EXPECT_EQ(w.releases, 1);
}

// Says two words when its socket is ready, and writes down what happens.
class talker final : public watcher, public sender {
public:
    talker(poller& p, std::string& story) : poller_(p), story_(story)
    {
        EXPECT_EQ(
            ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends_.data()), 0
        );
        EXPECT_TRUE(p.add(ends_[0], *this));
    }

    ~talker()
    {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }

    talker(const talker&) = delete;
    talker& operator=(const talker&) = delete;

    void ready(std::uint32_t) override
    {
        story_ += 'r';
        EXPECT_TRUE(poller_.output().take(*this, "a", "b"));
        EXPECT_TRUE(poller_.output().take(*this, "c", ""));
    }

    void recheck() override {}

    void released() override {}

    void send_gathered(std::string_view bytes) override
    {
        EXPECT_EQ(bytes, "abc");
        story_ += 's';
    }

private:
    poller& poller_;
    std::string& story_;
    std::array<int, 2> ends_{};
};

TEST_F(pollers, let_sends_leave_after_each_event_or_after_many)
{
    run();  // the one that is always there
    for (const int count : {1, poller::min_gathered - 1, poller::min_gathered}) {
        std::string story;
        std::deque<talker> talkers;
        for (int i = 0; i < count; ++i) {
            talkers.emplace_back(p, story);
        }
        run();
        const bool at_once = count < poller::min_gathered;
        std::string expected;
        for (int i = 0; i < count; ++i) {
            expected += at_once ? "rs" : "r";
        }
        expected += at_once ? "" : std::string(static_cast<std::size_t>(count), 's');
        EXPECT_EQ(story, expected);
    }
}

}  // namespace poller_test
}  // namespace gateway::net
