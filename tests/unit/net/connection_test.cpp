#include "gateway/net/connection.hpp"

#include "gateway/net/listener.hpp"
#include "tests/unit/net/loop_end.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace gateway::net {
namespace connection_test {

class recorder final : public connection {
public:
    using connection::connection;
    std::string got;
    int readables = 0;
    int drains = 0;
    int breaks = 0;
    int changes = 0;
    bool gone = false;
    received last = received::nothing;
    std::function<void()> when_readable;  // within the turn

    void take()
    {
        std::span<char> bytes;
        last = receive(bytes);
        if (last == received::data) {
            got.append(bytes.data(), bytes.size());
        }
    }

private:
    void readable() override
    {
        ++readables;
        take();
        if (when_readable) {
            when_readable();
        }
    }

    void backlog_changed() override { ++changes; }

    void drained() override { ++drains; }

    void broken() override { ++breaks; }

    void released() override { gone = true; }
};

class connections : public ::testing::Test {
protected:
    loop l;
    int peer = -1;
    std::unique_ptr<recorder> c;

    connections()
    {
        std::array<int, 2> ends{};
        EXPECT_EQ(
            ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0
        );
        peer = ends[1];
        c = std::make_unique<recorder>(l, socket(ends[0]));
    }

    template <typename Done>
    void run_until(Done done)
    {
        while (!done()) {
            l.context().run_one();
        }
    }

    std::size_t peer_takes()
    {
        std::array<char, 65536> some;
        std::size_t all = 0;
        for (ssize_t n = 0; (n = ::read(peer, some.data(), some.size())) > 0;) {
            all += static_cast<std::size_t>(n);
        }
        return all;
    }

    void peer_says(std::string_view bytes)
    {
        ASSERT_EQ(::write(peer, bytes.data(), bytes.size()), std::ssize(bytes));
    }

    // `act` is called in the middle of a turn, which then ends.
    void in_a_turn(std::function<void()> act)
    {
        c->when_readable = std::move(act);
        peer_says("x");
        c->want_read();
        const int before = c->readables;
        run_until([&] { return c->readables > before; });
        c->when_readable = nullptr;
    }

    void peer_leaves() { ::close(std::exchange(peer, -1)); }

    void TearDown() override
    {
        c->close();
        run_until([this] { return c->gone; });
        if (peer >= 0) {
            ::close(peer);
        }
        testing::end(l);
    }
};

TEST_F(connections, tell_once_per_wish_that_there_is_something_to_receive)
{
    peer_says("one");
    c->want_read();
    run_until([this] { return c->readables > 0; });
    EXPECT_EQ(c->got, "one");
    peer_says("two");
    l.context().poll();
    EXPECT_EQ(c->readables, 1);  // nobody asked
    c->want_read();
    run_until([this] { return c->readables > 1; });
    EXPECT_EQ(c->got, "onetwo");
}

TEST_F(connections, remember_what_an_edge_told_of_and_was_not_received)
{
    const std::string much(loop::read_buffer_bytes + 10, 'x');
    std::size_t sent = 0;
    while (sent < much.size()) {
        const ssize_t n = ::write(peer, much.data() + sent, much.size() - sent);
        ASSERT_GT(n, 0);
        sent += static_cast<std::size_t>(n);
    }
    while (c->got.size() < much.size()) {
        c->want_read();
        const int before = c->readables;
        run_until([&] { return c->readables > before; });
    }
    EXPECT_EQ(c->got, much);
}

TEST_F(connections, keep_what_the_socket_does_not_take_and_tell_when_it_has_gone)
{
    const std::string piece(100'000, 'x');
    std::size_t sent = 0;
    while (c->send(piece, "y") == sent::all) {
        sent += piece.size() + 1;
    }
    sent += piece.size() + 1;
    EXPECT_TRUE(c->sending());
    EXPECT_EQ(c->send("z"), sent::some);
    ++sent;
    std::size_t taken = 0;
    run_until([&] {
        taken += peer_takes();
        return c->drains > 0;
    });
    EXPECT_EQ(taken + peer_takes(), sent);
    EXPECT_FALSE(c->sending());
    EXPECT_EQ(c->send("a", "b"), sent::all);
    EXPECT_EQ(peer_takes(), 2U);
}

TEST_F(connections, tell_that_what_was_kept_cannot_be_sent)
{
    const std::string piece(100'000, 'x');
    while (c->send(piece) == sent::all) {
    }
    peer_leaves();
    run_until([this] { return c->breaks > 0; });
    EXPECT_EQ(c->send("x"), sent::broken);
}

TEST_F(connections, tell_an_end_from_a_reset)
{
    peer_says("last");
    peer_leaves();
    c->want_read();
    run_until([this] { return c->readables > 0; });
    EXPECT_EQ(c->got, "last");
    EXPECT_FALSE(c->at_rest());
    c->want_read();
    run_until([this] { return c->readables > 1; });
    EXPECT_EQ(c->last, received::closed);

    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    recorder other(l, socket(ends[0]));
    EXPECT_EQ(other.send("unread"), sent::all);
    ::close(ends[1]);  // with bytes it has not read: a reset
    other.want_read();
    run_until([&] { return other.readables > 0; });
    EXPECT_EQ(other.last, received::broken);
    EXPECT_EQ(other.send("x"), sent::broken);
    other.close();
    run_until([&] { return other.gone; });
}

TEST_F(connections, are_silent_after_they_were_closed)
{
    c->want_read();
    peer_says("x");
    c->close();
    c->close();
    EXPECT_TRUE(c->closed());
    EXPECT_EQ(c->send("x"), sent::broken);
    run_until([this] { return c->gone; });
    EXPECT_EQ(c->readables, 0);
}

TEST_F(connections, finish_sending_and_still_receive)
{
    EXPECT_EQ(c->send("bye"), sent::all);
    c->finish_sending();
    EXPECT_EQ(peer_takes(), 3U);
    char byte = 0;
    EXPECT_EQ(::read(peer, &byte, 1), 0);
    peer_says("x");
    c->want_read();
    run_until([this] { return c->readables > 0; });
    EXPECT_EQ(c->got, "x");
}

TEST_F(connections, send_the_end_behind_what_is_kept)
{
    const std::string piece(100'000, 'x');
    std::size_t sent = 0;
    while (c->send(piece) == sent::all) {
        sent += piece.size();
    }
    sent += piece.size();
    c->finish_sending();
    std::size_t taken = 0;
    run_until([&] {
        taken += peer_takes();
        return c->drains > 0;
    });
    EXPECT_EQ(taken + peer_takes(), sent);
    char byte = 0;
    EXPECT_EQ(::read(peer, &byte, 1), 0);
}

TEST_F(connections, send_what_is_small_when_the_turn_ends)
{
    in_a_turn([this] {
        EXPECT_EQ(c->send("a", "b"), sent::all);
        EXPECT_EQ(c->send("c"), sent::all);
        EXPECT_EQ(peer_takes(), 0U);
    });
    EXPECT_EQ(peer_takes(), 3U);
    EXPECT_EQ(c->changes, 0);
}

TEST_F(connections, send_what_is_large_at_once_behind_what_waits)
{
    in_a_turn([this] {
        EXPECT_EQ(c->send("a"), sent::all);
        EXPECT_EQ(c->send(std::string(outbox::max_send_bytes + 1, 'b')), sent::all);
        EXPECT_EQ(peer_takes(), outbox::max_send_bytes + 2);
    });
}

TEST_F(connections, send_what_waits_before_they_end_in_any_way)
{
    in_a_turn([this] {
        EXPECT_EQ(c->send("bye"), sent::all);
        c->finish_sending();
        EXPECT_EQ(peer_takes(), 3U);
        char byte = 0;
        EXPECT_EQ(::read(peer, &byte, 1), 0);
    });
    for (const bool by_reset : {false, true}) {
        std::array<int, 2> ends{};
        ASSERT_EQ(
            ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0
        );
        recorder other(l, socket(ends[0]));
        in_a_turn([&] {
            EXPECT_EQ(other.send("bye"), sent::all);
            by_reset ? other.reset() : other.close();
        });
        std::array<char, 9> bytes{};
        EXPECT_EQ(::read(ends[1], bytes.data(), bytes.size()), 3);
        EXPECT_EQ(::read(ends[1], bytes.data(), bytes.size()), 0);
        ::close(ends[1]);
        run_until([&] { return other.gone; });
    }
}

TEST_F(connections, send_at_once_what_must_not_wait)
{
    in_a_turn([this] {
        EXPECT_EQ(c->send("a"), sent::all);
        EXPECT_EQ(c->send_at_once("b", "c"), sent::all);
        EXPECT_EQ(peer_takes(), 3U);
    });
}

TEST_F(connections, are_at_rest_when_all_has_gone_and_nothing_has_come)
{
    in_a_turn([this] {
        EXPECT_EQ(c->send("a"), sent::all);
        EXPECT_TRUE(c->at_rest());
        EXPECT_EQ(peer_takes(), 1U);
    });
    while (c->send(std::string(65536, 'x')) == sent::all) {
    }
    EXPECT_FALSE(c->at_rest());
    c->close();
    EXPECT_FALSE(c->at_rest());
    run_until([this] { return c->gone; });
}

TEST_F(connections, close_when_all_has_gone)
{
    std::size_t sent_bytes = 0;
    for (bool full = false; !full; sent_bytes += 65536) {
        full = c->send(std::string(65536, 'x')) != sent::all;
    }
    c->close_when_sent();
    EXPECT_TRUE(c->closes_when_sent() && !c->closed());
    std::size_t taken = 0;
    run_until([&] {
        taken += peer_takes();
        return c->gone;
    });
    EXPECT_EQ(taken + peer_takes(), sent_bytes);
    EXPECT_EQ(c->drains, 0);
}

TEST_F(connections, tell_what_they_hold_back_of_what_counted_as_sent)
{
    const std::string piece(outbox::max_send_bytes, 'x');
    std::size_t sent = 0;
    for (; c->changes == 0; sent += piece.size()) {
        in_a_turn([&] {
            EXPECT_EQ(c->send(piece), sent::all);
            EXPECT_FALSE(c->sending());
        });
    }
    EXPECT_TRUE(c->sending());
    in_a_turn([&] { EXPECT_EQ(c->send("y"), sent::some); });
    ++sent;
    EXPECT_EQ(c->changes, 1);
    std::size_t taken = 0;
    run_until([&] {
        taken += peer_takes();
        return c->drains > 0;
    });
    EXPECT_EQ(taken + peer_takes(), sent);
}

TEST_F(connections, whose_peer_is_gone_when_the_turn_ends_have_something_to_receive)
{
    in_a_turn([this] {
        c->want_read();
        peer_leaves();
        EXPECT_EQ(c->send("x"), sent::all);
    });
    run_until([this] { return c->last == received::closed || c->last == received::broken; });
    EXPECT_EQ(c->last, received::broken) << "an end after a failure to send is no orderly one";
}

class doorkeeper final : public acceptor_owner {
public:
    std::vector<socket> in;
    std::size_t room = 100;

    bool make_room() override { return room > 0 && room-- > 0; }

    void room_unused() override { ++room; }

    void accepted(socket s, const std::optional<base::ip_address>&) override
    {
        in.push_back(std::move(s));
    }
};

TEST(listeners, accept_while_there_is_room_and_take_what_waits_when_they_close)
{
    loop l;
    socket s = open_listening_socket({.host = "127.0.0.1", .port = 0, .socket_path = {}});
    const unsigned short port = bound_port(s);
    ASSERT_NE(port, 0);
    EXPECT_THROW(
        refuse_if_taken({.host = "127.0.0.1", .port = port, .socket_path = {}}), std::system_error
    );
    doorkeeper door;
    door.room = 1;
    listener listening(l, std::move(s), door);
    listening.start();
    std::vector<socket> clients;
    const auto come = [&] {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        clients.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        ASSERT_EQ(
            ::connect(clients.back().fd(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0
        );
    };
    come();
    while (door.in.empty()) {
        l.context().run_one();
    }
    come();
    l.context().poll();
    EXPECT_EQ(door.in.size(), 1U);
    door.room = 9;
    listening.resume();
    while (door.in.size() < 2) {
        l.context().run_one();
    }
    EXPECT_EQ(door.room, 8U);
    come();
    listening.close(queued::accepted);
    EXPECT_EQ(door.in.size(), 3U);
    testing::end(l);
}

}  // namespace connection_test
}  // namespace gateway::net
