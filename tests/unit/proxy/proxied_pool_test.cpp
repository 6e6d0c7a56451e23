// Connections that begin with a PROXY header belong to the client that the header names.
#include "tests/unit/proxy/pool_fixture.hpp"

namespace gateway::proxy {
namespace proxied_pool_test {

class proxied_pools : public testing::pools {
protected:
    static base::connection_ends ends_of(std::uint16_t port)
    {
        const auto here = base::ip_address::v4(0x7f000001);
        return {{base::ip_address::v4(0xcb007107), port}, {here, 80}};
    }

    static lease_wish wish_of(std::uint16_t port) { return {.ends = ends_of(port)}; }

    upstream_connection& connected_for(std::uint16_t port)
    {
        testing::waiting w;
        EXPECT_TRUE(pends(w, wish_of(port)));
        testing::run_until(loop, [&] { return w.done(); });
        EXPECT_NE(w.got, nullptr);
        w.got->lease_to(nullptr);
        return *w.got;
    }

    upstream_connection* idle_one_for(std::uint16_t port)
    {
        testing::waiting w;
        return testing::connection_of(p->lease(w, wish_of(port)).carrier);
    }
};

TEST_F(proxied_pools, begin_connections_with_a_header)
{
    make({at(server.port())});
    connected_for(1234);
    EXPECT_EQ(server.hear(28), base::proxy_header_of(ends_of(1234)));
}

TEST_F(proxied_pools, lend_each_connection_to_its_client_only)
{
    make({at(server.port())});
    upstream_connection& a = connected_for(1);
    upstream_connection& b = connected_for(2);
    p->release(a, keep);
    p->release(b, keep);
    EXPECT_EQ(idle_one_for(3), nullptr);
    EXPECT_EQ(idle_one(), nullptr);
    EXPECT_EQ(idle_one_for(1), &a);
    EXPECT_EQ(idle_one_for(1), nullptr);
    EXPECT_EQ(idle_one_for(2), &b);
}

TEST_F(proxied_pools, forget_the_oldest_client_for_want_of_room)
{
    auto o = of({at(server.port())});
    o.max_idle = 2;
    make(o);
    upstream_connection& a = connected_for(1);
    upstream_connection& b = connected_for(2);
    upstream_connection& c = connected_for(3);
    p->release(a, keep);
    p->release(b, keep);
    p->release(c, shut);
    EXPECT_FALSE(a.closed()) << "nothing was kept for it";
    upstream_connection& d = connected_for(4);
    p->release(d, keep);
    EXPECT_TRUE(a.closed());
    EXPECT_EQ(idle_one_for(2), &b);
    EXPECT_EQ(idle_one_for(4), &d);
}

}  // namespace proxied_pool_test
}  // namespace gateway::proxy
