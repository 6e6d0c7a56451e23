#include "tests/unit/proxy/pool_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <sys/epoll.h>
#include <sys/syscall.h>

namespace {

bool no_more_watches = false;
bool no_more_sockets = false;

}  // namespace

// Instead of the C library's, so that they can be made to fail.
extern "C" int epoll_ctl(int set, int operation, int fd, epoll_event* event) noexcept
{
    if (no_more_watches && operation == EPOLL_CTL_ADD) {
        errno = ENOSPC;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_epoll_ctl, set, operation, fd, event));
}

extern "C" int socket(int domain, int type, int protocol) noexcept
{
    if (no_more_sockets) {
        errno = EMFILE;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_socket, domain, type, protocol));
}

namespace gateway::proxy {
namespace pool_test {

using testing::closed_port;
using testing::full_listener;
using testing::loopback_server;
using testing::pools;
using testing::run_until;
using testing::waiting;

TEST_F(pools, lend_the_connection_again_that_was_used_last)
{
    make({at(server.port())});
    upstream_connection& a = connected();
    upstream_connection& b = connected();
    EXPECT_FALSE(a.reused());
    EXPECT_EQ(worker.upstreams_active.value(), 2);
    p->release(a, keep);
    p->release(b, keep);
    EXPECT_EQ(worker.upstreams_idle.value(), 2);
    EXPECT_EQ(servers[0].idle.value(), 2);
    EXPECT_EQ(idle_one(), &b);
    EXPECT_TRUE(b.reused());
    EXPECT_EQ(idle_one(), &a);
    EXPECT_EQ(servers[0].active.value(), 2);
    EXPECT_EQ(servers[0].requests.value(), 4U);
    p->release(a, shut);
    p->release(b, shut);
    EXPECT_EQ(worker.upstreams_active.value(), 0);
    EXPECT_EQ(servers[0].active.value(), 0);
    run_until(loop, [&] { return p->empty(); });
}

TEST_F(pools, keep_no_more_idle_connections_than_they_may)
{
    auto o = of({at(server.port())});
    o.max_idle = 1;
    make(o);
    upstream_connection& a = connected();
    upstream_connection& b = connected();
    p->release(a, keep);
    p->release(b, keep);
    EXPECT_EQ(worker.upstreams_idle.value(), 1);
    EXPECT_TRUE(b.closed());
}

TEST_F(pools, forget_an_idle_connection_that_the_server_closes_or_speaks_on)
{
    make({at(server.port())});
    for (const bool closes : {true, false}) {
        p->release(connected(), keep);
        closes ? server.close_last() : server.say("HTTP/1.1 200 OK\r\n\r\n");
        run_until(loop, [&] { return p->empty(); });
        EXPECT_EQ(worker.upstreams_idle.value(), 0);
    }
}

TEST_F(pools, do_not_keep_a_connection_whose_end_is_known)
{
    make({at(server.port())});
    waiting w;
    ASSERT_TRUE(pends(w));
    run_until(loop, [&] { return w.done(); });
    server.say("x");
    server.close_last();
    w.got->want_read();
    std::span<char> bytes;
    run_until(loop, [&] { return w.readable; });
    EXPECT_EQ(w.got->receive(bytes), net::received::data);
    w.readable = false;
    w.got->want_read();
    run_until(loop, [&] { return w.readable; });
    p->release(*w.got, keep);
    EXPECT_TRUE(w.got->closed());
}

TEST_F(pools, pass_over_a_server_that_cannot_be_connected_to)
{
    make({at(testing::closed_port()), at(server.port())});
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(connected().server(), 1U);
    }
    EXPECT_EQ(failures(failure::connect), 0U);
}

TEST_F(pools, pass_over_it_for_many_at_the_same_time)
{
    make({at(testing::closed_port()), at(server.port())});
    std::list<waiting> all(9);
    for (waiting& w : all) {
        ASSERT_TRUE(pends(w));
    }
    run_until(loop, [&] {
        return std::all_of(all.begin(), all.end(), [](const waiting& w) { return w.done(); });
    });
    for (waiting& w : all) {
        EXPECT_NE(w.got, nullptr);
    }
}

TEST_F(pools, take_servers_in_turn)
{
    loopback_server other;
    auto o = of({at(server.port()), at(other.port())});
    o.balance = balancing::round_robin;
    make(o);
    std::array<int, 2> used{};
    for (int i = 0; i < 6; ++i) {
        ++used[connected().server()];
    }
    EXPECT_EQ(used[0], 3);
    EXPECT_EQ(used[1], 3);
}

TEST_F(pools, say_why_no_server_could_be_connected_to)
{
    const unsigned short port = testing::closed_port();
    const std::string where = "127.0.0.1:" + std::to_string(port);
    make({at(port), at(port)});
    waiting w;
    ASSERT_TRUE(pends(w));
    run_until(loop, [&] { return w.done(); });
    EXPECT_EQ(w.failed, failure::connect);
    EXPECT_EQ(failures(failure::connect), 1U);
    EXPECT_EQ(p->conduct().last_complaint(), where + ": Connection refused");
}

TEST_F(pools, give_up_after_the_connect_timeout)
{
    const testing::full_listener black_hole;
    connect_timeout = std::chrono::milliseconds{100};
    make({at(black_hole.port())});
    waiting w;
    const base::instant before = base::now();
    ASSERT_TRUE(pends(w));
    run_until(loop, [&] { return w.done(); });
    EXPECT_EQ(w.failed, failure::connect_timeout);
    EXPECT_GE(base::now() - before, std::chrono::milliseconds{75});
    EXPECT_EQ(failures(failure::connect_timeout), 1U);
    EXPECT_THAT(
        p->conduct().last_complaint(),
        ::testing::HasSubstr(": no connection within connect_timeout")
    );
}

TEST_F(pools, keep_a_connection_that_nobody_waits_for_any_more)
{
    make({at(server.port())});
    {
        waiting w;
        ASSERT_TRUE(pends(w));
    }
    EXPECT_EQ(in_use(), 0);
    run_until(loop, [&] { return worker.upstreams_idle.value() == 1; });
    EXPECT_NE(idle_one(), nullptr);
}

TEST_F(pools, keep_a_bounded_number_of_them)
{
    auto o = of({at(server.port())});
    o.max_idle = 3;
    make(o);
    {
        std::list<waiting> all(9);
        for (waiting& w : all) {
            ASSERT_TRUE(pends(w));
        }
    }
    run_until(loop, [&] { return worker.upstreams_idle.value() == 3; });
    let_happen();
    EXPECT_EQ(worker.upstreams_idle.value(), 3);
}

TEST_F(pools, that_are_retired_close_what_is_idle_at_once_and_what_is_lent_when_it_comes_back)
{
    make({at(server.port())});
    upstream_connection& lent = connected();
    p->release(connected(), keep);
    p->retire();
    EXPECT_EQ(worker.upstreams_idle.value(), 0);
    EXPECT_FALSE(lent.closed());
    EXPECT_FALSE(p->empty());
    p->release(lent, keep);
    run_until(loop, [&] { return p->empty(); });
}

TEST_F(pools, that_are_closed_break_off_what_is_under_way_and_tell_nobody)
{
    const testing::full_listener black_hole;
    make({at(black_hole.port())});
    waiting w;
    ASSERT_TRUE(pends(w));
    p->close();
    run_until(loop, [&] { return p->empty(); });
    EXPECT_FALSE(w.done());
}

TEST_F(pools, resolve_names_and_let_the_loop_end)
{
    make({at(server.port(), "localhost")});
    connected();
}

TEST_F(pools, do_not_wait_for_one_name_when_another_server_has_an_address)
{
    make({at(server.port(), "no-such-host.invalid"), at(server.port())});
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(connected().server(), 1U);
    }
}

TEST_F(pools, say_that_no_name_resolves)
{
    make({at(server.port(), "no-such-host.invalid")});
    waiting w;
    ASSERT_TRUE(pends(w));
    run_until(loop, [&] { return w.done(); });
    EXPECT_EQ(w.failed, failure::no_address);
    EXPECT_EQ(failures(failure::no_address), 1U);
    EXPECT_THAT(p->conduct().last_complaint(), ::testing::HasSubstr("no-such-host.invalid"));
}

TEST_F(pools, read_the_clock_before_they_go_on_with_an_answer_about_names)
{
    make({at(server.port(), "no-such-host.invalid")});
    waiting w;
    ASSERT_TRUE(pends(w));
    base::instant turn;
    run_until(loop, [&] {
        const bool done = w.done();
        turn = done ? turn : base::now();
        return done;
    });
    EXPECT_GE(loop.now(), turn);
}

TEST_F(pools, go_on_to_another_server_when_one_lets_connect_timeout_pass)
{
    const testing::full_listener black_hole;
    connect_timeout = std::chrono::milliseconds{100};
    auto o = of({at(black_hole.port()), at(server.port())});
    o.balance = balancing::round_robin;
    make(o);
    EXPECT_EQ(connected().server(), 1U);
    EXPECT_EQ(servers[0].failures.value(), 1U);
    EXPECT_EQ(failures(failure::connect_timeout), 0U);
}

TEST_F(pools, give_up_after_the_second_server_that_does)
{
    const std::array<testing::full_listener, 3> holes;
    connect_timeout = std::chrono::milliseconds{100};
    make({at(holes[0].port()), at(holes[1].port()), at(holes[2].port())});
    waiting w;
    ASSERT_TRUE(pends(w));
    run_until(loop, [&] { return w.done(); });
    EXPECT_EQ(w.failed, failure::connect_timeout);
    EXPECT_EQ(failures(failure::connect_timeout), 1U);
    EXPECT_EQ(in_use(), 0);
}

TEST_F(pools, do_not_go_back_to_a_server_that_is_passed_over)
{
    loopback_server other;
    make({at(server.port()), at(other.port())});
    for (int i = 0; i < 8; ++i) {
        waiting w;
        ASSERT_TRUE(pends(w, {.fresh = true, .passed_over = 1}));
        run_until(loop, [&] { return w.done(); });
        EXPECT_EQ(w.got->server(), 1U);
    }
}

TEST_F(pools, go_to_a_server_of_last_resort_only_if_no_other_can_be_reached)
{
    std::optional<loopback_server> other(std::in_place);
    make({at(server.port()), at(other->port())});
    const lease_wish wish{.fresh = true, .last_resort = 1};
    const auto server_of = [&](const lease_wish& w) {
        waiting l;
        EXPECT_TRUE(pends(l, w));
        run_until(loop, [&] { return l.done(); });
        return l.got->server();
    };
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(server_of(wish), 1U);
    }
    for (unsigned i = 0; i < p->options().ejection.failures; ++i) {
        p->conduct().did_not_respond(1, failure::reset, false);
    }
    EXPECT_EQ(server_of(wish), 1U) << "though it is passed over by others";
    other.reset();
    EXPECT_EQ(server_of(wish), 0U);
    EXPECT_EQ(server_of({.fresh = true, .passed_over = 2, .last_resort = 1}), 0U);
}

TEST_F(pools, eject_a_server_that_fails_and_take_it_back)
{
    loopback_server other;
    auto o = of({at(server.port()), at(other.port())});
    o.ejection.time = std::chrono::milliseconds{50};
    o.slow_start = base::duration{0};
    make(o);
    for (unsigned i = 0; i < o.ejection.failures; ++i) {
        EXPECT_TRUE(p->conduct().did_not_respond(0, failure::reset, false));
    }
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(connected().server(), 1U);
    }
    run_until(loop, [&] {
        loop.refresh_now();
        return connected().server() == 0;
    });
}

TEST_F(pools, do_not_blame_a_server_for_what_we_lack_ourselves)
{
    loopback_server other;
    make({at(server.port()), at(other.port())});
    waiting w;
    no_more_sockets = true;
    EXPECT_TRUE(pends(w));
    run_until(loop, [&] { return w.done(); });
    no_more_sockets = false;
    EXPECT_EQ(w.failed, failure::connect);
    EXPECT_EQ(servers[0].failures.value() + servers[1].failures.value(), 0U);
}

TEST_F(pools, blame_a_server_for_its_own_failures_only)
{
    make({at(server.port())});
    EXPECT_TRUE(p->conduct().did_not_respond(0, failure::bad_response, true));
    EXPECT_TRUE(p->conduct().did_not_respond(0, failure::response_timeout, true));
    EXPECT_TRUE(p->conduct().did_not_respond(0, failure::reset, false));
    EXPECT_FALSE(p->conduct().did_not_respond(0, failure::reset, true))
        << "it may have been idle for long";
    EXPECT_FALSE(p->conduct().did_not_respond(0, failure::body_timeout, false))
        << "of the client, maybe";
    EXPECT_FALSE(p->conduct().did_not_respond(0, failure::queue_timeout, false));
    EXPECT_EQ(servers[0].failures.value(), 3U);
}

TEST_F(pools, neither_lend_nor_keep_a_connection_that_cannot_be_watched)
{
    for (const bool abandoned : {false, true}) {
        make({at(server.port())});
        std::optional<waiting> w(std::in_place);
        ASSERT_TRUE(pends(*w));
        if (abandoned) {
            w.reset();
        }
        no_more_watches = true;
        run_until(loop, [&] { return p->empty(); });
        no_more_watches = false;
        EXPECT_EQ(in_use(), 0);
        EXPECT_EQ(worker.upstreams_active.value(), 0);
        EXPECT_EQ(worker.upstreams_idle.value(), 0);
        if (w) {
            EXPECT_EQ(w->failed, failure::connect);
        }
    }
}

}  // namespace pool_test
}  // namespace gateway::proxy
