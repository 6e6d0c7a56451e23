#include "gateway/proxy/servers/balance.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace gateway::proxy {
namespace balance_test {

using namespace std::chrono_literals;

constexpr int many = 60'000;

std::uint32_t idle(std::size_t)
{
    return 0;
}

// How often each is chosen, as a share of all.
template <typename Choose>
std::vector<double> shares(std::size_t servers, Choose choose)
{
    std::vector<double> out(servers);
    for (int i = 0; i < many; ++i) {
        out.at(*choose()) += 1.0 / many;
    }
    return out;
}

void expect_shares_by_weight(const std::vector<double>& got, weights all)
{
    double total = 0;
    for (const std::uint32_t w : all) {
        total += w;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_NEAR(got[i], all[i] / total, 0.01) << i;
    }
}

const std::vector<std::vector<std::uint32_t>> some_weights{
    {1},
    {1, 1},
    {256, 768},
    {1, 2, 3, 4},
    {0, 5, 0, 5, 1},
    {65536, 6553, 65536},
};

TEST(balance, of_idle_servers_is_by_weight_whichever_way)
{
    for (const auto& w : some_weights) {
        std::mt19937_64 random(7);
        turns in_turn(w.size());
        std::vector<std::uint64_t> seeds;
        for (std::size_t i = 0; i < w.size(); ++i) {
            seeds.push_back(mixed(i + 100));
        }
        std::uint64_t key = 0;
        expect_shares_by_weight(
            shares(w.size(), [&] { return least_requests(w, random(), idle); }), w
        );
        expect_shares_by_weight(shares(w.size(), [&] { return in_turn.next(w); }), w);
        expect_shares_by_weight(
            shares(w.size(), [&] { return by_key(w, seeds, mixed(key++)); }), w
        );
    }
}

TEST(balance, has_no_server_when_all_weights_are_zero)
{
    const std::array<std::uint32_t, 3> none{};
    const std::array<std::uint64_t, 3> seeds{1, 2, 3};
    EXPECT_FALSE(least_requests(none, 5, idle));
    EXPECT_FALSE(turns(3).next(none));
    EXPECT_FALSE(by_key(none, seeds, 5));
    EXPECT_FALSE(draw_two({}, 5));
}

TEST(balance, draws_two_different_servers_where_there_are_two)
{
    std::mt19937_64 random(11);
    const std::array<std::uint32_t, 4> all{0, 1, 1000, 1};
    for (int i = 0; i < many; ++i) {
        const auto two = draw_two(all, random());
        EXPECT_NE(two->first, two->second);
        EXPECT_NE(all.at(two->first), 0U);
        EXPECT_NE(all.at(two->second), 0U);
    }
    const std::array<std::uint32_t, 2> one{0, 3};
    EXPECT_EQ(draw_two(one, 5)->first, 1U);
    EXPECT_EQ(draw_two(one, 5)->second, 1U);
}

TEST(balance, never_takes_the_busier_of_the_two)
{
    std::mt19937_64 random(13);
    for (int i = 0; i < many; ++i) {
        const std::array<std::uint32_t, 3> weight{
            static_cast<std::uint32_t>(random() % 9 + 1),
            static_cast<std::uint32_t>(random() % 9 + 1),
            static_cast<std::uint32_t>(random() % 9 + 1)};
        const std::array<std::uint32_t, 3> requests{
            static_cast<std::uint32_t>(random() % 9),
            static_cast<std::uint32_t>(random() % 9),
            static_cast<std::uint32_t>(random() % 9)};
        const std::uint64_t drawn = random();
        const auto two = draw_two(weight, drawn);
        const auto chosen =
            least_requests(weight, drawn, [&](std::size_t s) { return requests.at(s); });
        const std::size_t other = *chosen == two->first ? two->second : two->first;
        EXPECT_LE(requests.at(*chosen) * weight.at(other), requests.at(other) * weight.at(*chosen));
    }
}

TEST(balance, in_turn_spreads_the_heavy_one_evenly)
{
    turns t(3);
    const std::array<std::uint32_t, 3> all{5, 1, 1};
    std::string order;
    for (int i = 0; i < 7; ++i) {
        order += static_cast<char>('a' + *t.next(all));
    }
    EXPECT_EQ(order, "aabacaa");
}

TEST(balance, by_key_moves_only_the_keys_of_a_server_that_leaves)
{
    std::vector<std::uint32_t> all(10, 1);
    std::vector<std::uint64_t> seeds;
    for (std::size_t i = 0; i < all.size(); ++i) {
        seeds.push_back(mixed(i));
    }
    for (std::size_t gone = 0; gone < all.size(); ++gone) {
        auto rest = all;
        rest[gone] = 0;
        int moved = 0;
        for (std::uint64_t key = 0; key < 5000; ++key) {
            const auto before = by_key(all, seeds, mixed(key));
            const auto after = by_key(rest, seeds, mixed(key));
            EXPECT_EQ(before, by_key(all, seeds, mixed(key)));
            EXPECT_NE(after, gone);
            EXPECT_TRUE(before == gone || before == after);
            moved += before == after ? 0 : 1;
        }
        EXPECT_NEAR(moved, 500, 100);
    }
}

TEST(balance, by_key_takes_no_key_from_a_server_whose_weight_grows)
{
    const std::array<std::uint64_t, 3> seeds{mixed(1), mixed(2), mixed(3)};
    for (std::uint64_t key = 0; key < 5000; ++key) {
        const auto before = by_key(std::array<std::uint32_t, 3>{2, 2, 2}, seeds, mixed(key));
        const auto after = by_key(std::array<std::uint32_t, 3>{2, 3, 2}, seeds, mixed(key));
        EXPECT_TRUE(after == before || after == 1U);
    }
}

TEST(balance, gives_a_client_one_key_however_its_address_is_kept)
{
    const auto a = base::ip_address::parse("192.0.2.1");
    const auto b = base::ip_address::parse("192.0.2.2");
    EXPECT_EQ(key_of(*a), key_of(*base::ip_address::parse("::ffff:192.0.2.1")));
    EXPECT_NE(key_of(*a), key_of(*b));
}

TEST(balance, brings_a_server_back_by_and_by)
{
    EXPECT_EQ(weight_after(2, 0s, 10s), 2 * weight_unit / 10);
    EXPECT_EQ(weight_after(2, 5s, 10s), weight_unit);
    EXPECT_EQ(weight_after(2, 10s, 10s), 2 * weight_unit);
    EXPECT_EQ(weight_after(2, 1h, 10s), 2 * weight_unit);
    EXPECT_EQ(weight_after(2, 0s, 0s), 2 * weight_unit);
    std::uint32_t last = 0;
    for (base::duration back = 0s; back <= 10s; back += 100ms) {
        const std::uint32_t now = weight_after(256, back, 10s);
        EXPECT_GE(now, last);
        EXPECT_GT(now, 0U);
        last = now;
    }
}

}  // namespace balance_test
}  // namespace gateway::proxy
