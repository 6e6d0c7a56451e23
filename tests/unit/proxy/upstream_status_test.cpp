#include "gateway/proxy/servers/server_capacity.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gateway::proxy {
namespace upstream_status_test {

using namespace std::chrono_literals;

class upstream_statuses : public ::testing::Test {
protected:
    std::shared_ptr<upstream_status> status = std::make_shared<upstream_status>();
    upstream_options options;
    base::instant now{1h};

    void has_servers(std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i) {
            options.servers.push_back(
                {.address = {.host = "h", .port = std::to_string(i + 1), .socket_path = {}}}
            );
        }
    }

    std::vector<std::shared_ptr<server_status>> servers()
    {
        std::vector<std::shared_ptr<server_status>> all;
        for (const auto& s : options.servers) {
            all.push_back(status->server(to_text(s.address)));
        }
        return all;
    }
};

TEST_F(upstream_statuses, know_a_server_again_as_long_as_somebody_holds_it)
{
    auto a = status->server("a:1");
    EXPECT_EQ(status->server("a:1"), a);
    EXPECT_NE(status->server("b:1"), a);
    a->set_healthy(false);
    a.reset();
    EXPECT_TRUE(status->server("a:1")->healthy());
}

TEST_F(upstream_statuses, never_eject_the_last_server_nor_more_than_the_share)
{
    for (const std::size_t count : {1U, 2U, 3U, 10U, 64U}) {
        options.servers.clear();
        has_servers(count);
        status = std::make_shared<upstream_status>();
        const auto all = servers();
        std::mt19937_64 random(count);
        for (int i = 0; i < 20'000; ++i) {
            now += 10ms;
            const std::size_t which = random() % count;
            if (random() % 8 == 0) {
                status->succeeded(*all[which], now);
            } else {
                status->failed(all, which, options.ejection, now);
            }
            std::size_t usable = 0;
            for (const auto& s : all) {
                usable += s->is_usable(now) ? 1 : 0;
            }
            EXPECT_GE(usable, 1U);
            EXPECT_LE(count - usable, std::max<std::size_t>(count / 2, 1));
        }
        EXPECT_EQ(all[0]->ejections() > 0, count > 1);
    }
}

TEST_F(upstream_statuses, do_not_eject_the_last_healthy_server)
{
    has_servers(2);
    const auto all = servers();
    all[1]->set_healthy(false);
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(status->failed(all, 0, options.ejection, now));
    }
}

TEST_F(upstream_statuses, keep_an_ejected_server_out_when_it_turns_healthy)
{
    has_servers(2);
    const auto all = servers();
    now = base::now();
    for (int i = 0; i < 5; ++i) {
        status->failed(all, 0, options.ejection, now);
    }
    all[0]->set_healthy(false);
    all[0]->set_healthy(true);
    EXPECT_FALSE(all[0]->is_usable(base::now()));
    EXPECT_TRUE(all[0]->is_usable(now + 10s));
}

TEST_F(upstream_statuses, let_requests_go_to_dead_servers_rather_than_nowhere)
{
    has_servers(3);
    const auto all = servers();
    for (const auto& s : all) {
        s->set_healthy(false);
    }
    server_capacity p(options, status);
    EXPECT_EQ(p.take(0b111, 0, now).is, server_capacity::availability::taken);
    EXPECT_EQ(p.take(0b100, 0, now).server, 2U);
    EXPECT_EQ(p.take(0, 0, now).is, server_capacity::availability::none);
}

TEST_F(upstream_statuses, do_not_let_them_go_there_because_the_living_ones_are_full)
{
    has_servers(2);
    options.servers[0].max_connections = 1;
    const auto all = servers();
    all[1]->set_healthy(false);
    server_capacity p(options, status);
    EXPECT_EQ(p.take(0b11, 0, now).server, 0U);
    EXPECT_EQ(p.take(0b11, 0, now).is, server_capacity::availability::full);
    p.release(0);
    EXPECT_EQ(p.take(0b11, 0, now).is, server_capacity::availability::taken);
}

TEST_F(upstream_statuses, hold_every_bound_and_give_everything_back)
{
    has_servers(3);
    options.max_connections = 5;
    options.servers[0].max_connections = 1;
    options.servers[1].max_connections = 2;
    for (const auto how : {balancing::least_requests, balancing::round_robin, balancing::hash}) {
        options.balance = how;
        server_capacity p(options, status);
        std::vector<std::size_t> taken;
        std::mt19937_64 random(3);
        for (int i = 0; i < 20'000; ++i) {
            if (random() % 2 == 0) {
                const auto c = p.take(0b111, random(), now);
                EXPECT_EQ(c.is == server_capacity::availability::full, taken.size() == 5);
                if (c.is == server_capacity::availability::taken) {
                    taken.push_back(c.server);
                }
            } else if (!taken.empty()) {
                p.release(taken.back());
                taken.pop_back();
            }
            EXPECT_LE(std::count(taken.begin(), taken.end(), 0U), 1);
            EXPECT_LE(std::count(taken.begin(), taken.end(), 1U), 2);
        }
        for (const std::size_t s : taken) {
            p.release(s);
        }
        EXPECT_EQ(status->capacity().taken(), 0U);
        for (const auto& s : servers()) {
            EXPECT_EQ(s->capacity().taken(), 0U);
        }
    }
}

}  // namespace upstream_status_test
}  // namespace gateway::proxy
