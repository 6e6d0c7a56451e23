#include "gateway/proxy/servers/server_capacity.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace gateway::proxy {
namespace places_test {

using availability = server_capacity::availability;

constexpr std::uint64_t all_servers = ~std::uint64_t{0};
const base::instant start{std::chrono::hours{1}};

// An upstream of so many servers.
upstream_options upstream_of(std::size_t servers, std::uint32_t most, std::uint32_t most_each)
{
    upstream_options options;
    options.name = "u";
    for (std::size_t i = 0; i < servers; ++i) {
        server_options one;
        one.address.host = "10.0.0." + std::to_string(i + 1);
        one.address.port = "80";
        one.max_connections = most_each;
        options.servers.push_back(one);
    }
    options.max_connections = most;
    return options;
}

// How many places there are to be had.
std::size_t taken_from(server_capacity& p)
{
    std::size_t taken = 0;
    while (p.take(all_servers, 0, start).is == availability::taken) {
        ++taken;
    }
    return taken;
}

TEST(server_capacity, the_lower_of_both_bounds_counts)
{
    for (const std::uint32_t most : {0U, 1U, 5U, 6U, 7U, 100U}) {
        const upstream_options options = upstream_of(3, most, 2);
        server_capacity p{options, std::make_shared<upstream_status>()};
        EXPECT_EQ(taken_from(p), most == 0 ? 6U : std::min(most, 6U)) << most;
    }
}

TEST(server_capacity, who_finds_every_server_full_keeps_no_place_of_the_upstream)
{
    const upstream_options options = upstream_of(2, 5, 2);
    const auto status = std::make_shared<upstream_status>();
    server_capacity p{options, status};
    EXPECT_EQ(taken_from(p), 4U);
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(p.take(all_servers, 0, start).is, availability::full);
    }
    EXPECT_EQ(status->capacity().taken(), 4U);
    p.release(0);
    EXPECT_EQ(p.take(all_servers, 0, start).is, availability::taken);
    EXPECT_EQ(p.take(all_servers, 0, start).is, availability::full);
}

TEST(server_capacity, all_gateways_send_a_client_to_the_same_server)
{
    upstream_options options = upstream_of(5, 0, 0);
    options.balance = balancing::hash;
    server_capacity p{options, std::make_shared<upstream_status>()};
    std::vector<std::size_t> chosen;
    for (int i = 1; i <= 12; ++i) {
        const auto client = *base::ip_address::parse("192.0.2." + std::to_string(i));
        chosen.push_back(p.take(all_servers, key_of(client), start).server);
    }
    // Known answers: another version must not move clients to other servers.
    EXPECT_THAT(chosen, ::testing::ElementsAre(4, 1, 3, 0, 2, 3, 3, 1, 2, 3, 0, 2));
}

}  // namespace places_test
}  // namespace gateway::proxy
