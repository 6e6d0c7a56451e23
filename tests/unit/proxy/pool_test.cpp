#include "gateway/proxy/pool.hpp"

#include "tests/unit/proxy/loopback.hpp"

#include <gtest/gtest.h>

namespace gateway::proxy {
namespace {

using testing::loopback_server;
using testing::run_until;

class waiting final : public pending_lease, public lessee {
public:
    upstream_connection* got = nullptr;
    std::optional<failure> failed;
    bool readable = false;

    void leased(upstream_connection& c) override
    {
        got = &c;
        c.lease_to(this);
    }

    void lease_failed(failure why) override { failed = why; }

    void upstream_readable() override { readable = true; }

    void upstream_drained() override {}

    void upstream_broken() override { readable = true; }

    bool done() const { return got != nullptr || failed; }
};

class pools : public ::testing::Test {
protected:
    net::loop loop;
    loopback_server server;
    telemetry::upstream_metrics upstream;
    telemetry::worker_metrics worker;
    std::optional<pool> p;

    static server_address at(unsigned short port, const char* host = "127.0.0.1")
    {
        return {.host = host, .port = std::to_string(port), .socket_path = {}, .echo = false};
    }

    void make(std::vector<server_address> servers, std::size_t max_idle = 64)
    {
        upstream_options o;
        o.name = "u";
        o.servers = std::move(servers);
        o.connect_timeout = std::chrono::milliseconds{100};
        o.max_idle = max_idle;
        p.emplace(
            loop, o, static_cast<unsigned short>(0), pool::telemetry_blocks{upstream, worker}
        );
    }

    upstream_connection& connected()
    {
        waiting w;
        EXPECT_FALSE(p->connect(w));
        run_until(loop, [&] { return w.done(); });
        EXPECT_NE(w.got, nullptr);
        w.got->lease_to(nullptr);
        return *w.got;
    }

    std::uint64_t failures(failure why) const
    {
        return upstream.failures[static_cast<std::size_t>(why)].value();
    }

    void TearDown() override
    {
        if (p) {
            p->close();
            run_until(loop, [&] { return p->empty(); });
        }
        EXPECT_EQ(worker.upstreams_idle.value(), 0);
        loop.stop();
        loop.context().restart();
        loop.run();  // ends, or the test hangs
        p.reset();
    }
};

TEST_F(pools, lend_the_connection_again_that_was_used_last)
{
    make({at(server.port())});
    EXPECT_EQ(p->take_idle(), nullptr);
    upstream_connection& a = connected();
    upstream_connection& b = connected();
    EXPECT_FALSE(a.reused());
    EXPECT_EQ(worker.upstreams_active.value(), 2);
    p->give_back(a, true);
    p->give_back(b, true);
    EXPECT_EQ(worker.upstreams_idle.value(), 2);
    EXPECT_EQ(p->take_idle(), &b);
    EXPECT_TRUE(b.reused());
    EXPECT_EQ(p->take_idle(), &a);
    EXPECT_EQ(p->take_idle(), nullptr);
    p->give_back(a, false);
    p->give_back(b, false);
    EXPECT_EQ(p->take_idle(), nullptr);
    EXPECT_EQ(worker.upstreams_active.value(), 0);
    run_until(loop, [&] { return p->empty(); });
}

TEST_F(pools, keep_no_more_idle_connections_than_they_may)
{
    make({at(server.port())}, 1);
    upstream_connection& a = connected();
    upstream_connection& b = connected();
    p->give_back(a, true);
    p->give_back(b, true);
    EXPECT_EQ(worker.upstreams_idle.value(), 1);
    EXPECT_TRUE(b.closed());
}

TEST_F(pools, forget_an_idle_connection_that_the_server_closes_or_speaks_on)
{
    make({at(server.port())});
    for (const bool closes : {true, false}) {
        p->give_back(connected(), true);
        closes ? server.close_last() : server.say("HTTP/1.1 200 OK\r\n\r\n");
        run_until(loop, [&] { return p->empty(); });
        EXPECT_EQ(p->take_idle(), nullptr);
        EXPECT_EQ(worker.upstreams_idle.value(), 0);
    }
}

TEST_F(pools, do_not_keep_a_connection_whose_end_is_known)
{
    make({at(server.port())});
    waiting w;
    ASSERT_FALSE(p->connect(w));
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
    p->give_back(*w.got, true);
    EXPECT_EQ(p->take_idle(), nullptr);
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
        ASSERT_FALSE(p->connect(w));
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
    make({at(server.port()), at(other.port())});
    std::array<int, 2> used{};
    for (int i = 0; i < 6; ++i) {
        ++used[connected().server()];
    }
    EXPECT_EQ(used[0], 3);
    EXPECT_EQ(used[1], 3);
}

TEST_F(pools, say_why_no_server_could_be_connected_to)
{
    make({at(testing::closed_port()), at(testing::closed_port())});
    waiting w;
    ASSERT_FALSE(p->connect(w));
    run_until(loop, [&] { return w.done(); });
    EXPECT_EQ(w.failed, failure::connect);
    EXPECT_EQ(failures(failure::connect), 1U);
}

TEST_F(pools, give_up_after_the_connect_timeout)
{
    const testing::full_listener black_hole;
    make({at(black_hole.port())});
    waiting w;
    const base::instant before = base::now();
    ASSERT_FALSE(p->connect(w));
    run_until(loop, [&] { return w.done(); });
    EXPECT_EQ(w.failed, failure::connect_timeout);
    EXPECT_GE(base::now() - before, std::chrono::milliseconds{75});
    EXPECT_EQ(failures(failure::connect_timeout), 1U);
}

TEST_F(pools, keep_a_connection_that_nobody_waits_for_any_more)
{
    make({at(server.port())});
    {
        waiting w;
        ASSERT_FALSE(p->connect(w));
    }
    run_until(loop, [&] { return worker.upstreams_idle.value() == 1; });
    EXPECT_NE(p->take_idle(), nullptr);
}

TEST_F(pools, that_are_retired_close_what_is_idle_at_once_and_what_is_lent_when_it_comes_back)
{
    make({at(server.port())});
    upstream_connection& lent = connected();
    p->give_back(connected(), true);
    p->retire();
    EXPECT_EQ(worker.upstreams_idle.value(), 0);
    EXPECT_FALSE(lent.closed());
    EXPECT_FALSE(p->empty());
    p->give_back(lent, true);
    run_until(loop, [&] { return p->empty(); });
}

TEST_F(pools, that_are_closed_break_off_what_is_under_way_and_tell_nobody)
{
    const testing::full_listener black_hole;
    make({at(black_hole.port())});
    waiting w;
    ASSERT_FALSE(p->connect(w));
    p->close();
    run_until(loop, [&] { return p->empty(); });
    EXPECT_FALSE(w.done());
}

TEST_F(pools, resolve_names_and_let_the_loop_end)
{
    make({at(server.port(), "localhost")});
    connected();
}

}  // namespace
}  // namespace gateway::proxy
