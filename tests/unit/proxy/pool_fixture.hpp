// What tests of a pool share: who waits for a lease, and a pool over servers on this machine, of
// which nothing is left behind at the end.
#pragma once

#include "gateway/proxy/pool/pool.hpp"
#include "tests/unit/net/loop_end.hpp"
#include "tests/unit/proxy/loopback.hpp"

#include <gtest/gtest.h>

namespace gateway::proxy::testing {

// The connection that carries a request of HTTP/1.1, or null.
inline upstream_connection* connection_of(upstream_carrier* c)
{
    return dynamic_cast<upstream_connection*>(c);
}

class waiting final : public pending_lease, public lessee {
public:
    upstream_connection* got = nullptr;
    std::optional<failure> failed;
    bool readable = false;

    void leased(upstream_carrier& c) override
    {
        got = connection_of(&c);
        c.lease_to(this);
    }

    void lease_failed(failure why) override { failed = why; }

    void upstream_readable() override { readable = true; }

    void upstream_backlog_changed() override {}

    void upstream_drained() override {}

    void upstream_broken() override { readable = true; }

    bool done() const { return got != nullptr || failed; }
};

class pools : public ::testing::Test {
protected:
    // What becomes of a connection that is given back.
    static constexpr auto keep = answer_port::disposition::keep;
    static constexpr auto shut = answer_port::disposition::close;

    net::loop loop;
    loopback_server server;
    telemetry::upstream_metrics upstream;
    telemetry::worker_metrics worker;
    std::array<telemetry::server_metrics, 4> servers;
    std::shared_ptr<upstream_status> status = std::make_shared<upstream_status>();
    std::optional<pool> p;

    static server_options at(unsigned short port, const char* host = "127.0.0.1")
    {
        return {.address = {.host = host, .port = std::to_string(port), .socket_path = {}}};
    }

    // For the machine to be slow in; short where they are what is tested.
    base::duration connect_timeout = std::chrono::seconds{20};
    base::duration queue_timeout = std::chrono::seconds{20};

    upstream_options of(std::vector<server_options> all) const
    {
        upstream_options o;
        o.name = "u";
        o.servers = std::move(all);
        o.connect_timeout = connect_timeout;
        o.queue_timeout = queue_timeout;
        return o;
    }

    void make(upstream_options o)
    {
        pool_metrics blocks{upstream, worker, {}};
        for (std::size_t i = 0; i < o.servers.size(); ++i) {
            blocks.servers.push_back(&servers[i]);
        }
        p.emplace(loop, std::move(o), status, static_cast<unsigned short>(0), std::move(blocks));
    }

    void make(std::vector<server_options> some) { make(of(std::move(some))); }

    // A lease that cannot be had from what is idle.
    bool pends(waiting& w, const lease_wish& wish = {.fresh = true})
    {
        const auto answer = p->lease(w, wish);
        return answer.carrier == nullptr && !answer.failed;
    }

    upstream_connection& connected()
    {
        waiting w;
        EXPECT_TRUE(pends(w));
        run_until(loop, [&] { return w.done(); });
        EXPECT_NE(w.got, nullptr);
        w.got->lease_to(nullptr);
        return *w.got;
    }

    // Leased at once, or null; then the attempt at a new one is given up.
    upstream_connection* idle_one()
    {
        waiting w;
        return connection_of(p->lease(w, {}).carrier);
    }

    // Whatever can happen without time going by.
    void let_happen()
    {
        while (loop.context().poll_one() != 0) {
        }
    }

    std::int64_t in_use() const
    {
        std::int64_t sum = 0;
        for (const auto& s : servers) {
            sum += s.active.value();
        }
        return sum;
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
        for (const auto& s : servers) {
            EXPECT_EQ(s.idle.value(), 0);
        }
        net::testing::end(loop);
        p.reset();
    }
};

}  // namespace gateway::proxy::testing
