#include "gateway/limits/reports/heavy_hitters.hpp"

#include "gateway/identity/bucket_name.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace gateway::limits {
namespace heavy_hitters_test {

std::string name_of(int client, std::size_t padding = 0)
{
    identity::bucket_name name;
    name.start("l");
    name.add(std::to_string(client) + std::string(padding, 'x'));
    return std::string{name.bytes()};
}

std::map<std::string, heavy_hitters::hitter> by_name(std::vector<heavy_hitters::hitter> all)
{
    std::map<std::string, heavy_hitters::hitter> named;
    for (auto& h : all) {
        EXPECT_TRUE(named.emplace(h.name, h).second) << "twice";
    }
    return named;
}

TEST(heavy_hitters, count_exactly_while_there_is_room)
{
    heavy_hitters top;
    for (int round = 0; round < 100; ++round) {
        for (int client = 0; client < 256; ++client) {
            if (round <= client % 100) {
                top.count(base::hashed_name{name_of(client)});
            }
        }
    }
    const auto all = by_name(top.all());
    EXPECT_EQ(all.size(), 256U);
    std::uint64_t sum = 0;
    for (int client = 0; client < 256; ++client) {
        const auto& h = all.at(name_of(client));
        EXPECT_EQ(h.count, static_cast<std::uint64_t>(client % 100 + 1));
        EXPECT_EQ(h.error, 0U);
        sum += h.count;
    }
    EXPECT_EQ(top.total(), sum);
}

using truth = std::map<std::string, std::uint64_t>;

// What the paper promises, of any stream.
void expect_promises(
    const std::vector<heavy_hitters::hitter>& said, const truth& exact, std::uint64_t total
)
{
    const auto all = by_name(said);
    for (const auto& [name, h] : all) {
        EXPECT_GE(h.count, exact.at(name));
        EXPECT_LE(h.count - h.error, exact.at(name));
        EXPECT_LE(h.error, total / heavy_hitters::most);
    }
    for (const auto& [name, count] : exact) {
        EXPECT_TRUE(count <= total / heavy_hitters::most || all.contains(name)) << count;
    }
}

TEST(heavy_hitters, keep_the_promise_on_any_stream)
{
    std::mt19937 random{4711};
    for (int round = 0; round < 30; ++round) {
        heavy_hitters top;
        truth exact;
        std::geometric_distribution<int> clients{0.5 / (1 << (round % 12))};
        for (int i = 0; i < 20'000; ++i) {
            const std::string name = name_of(clients(random));
            top.count(base::hashed_name{name});
            ++exact[name];
        }
        expect_promises(top.all(), exact, top.total());
        EXPECT_LE(top.all().size(), heavy_hitters::most);
        std::uint64_t sum = 0;
        for (const auto& h : top.all()) {
            sum += h.count;
        }
        EXPECT_EQ(sum, top.total());
    }
}

TEST(heavy_hitters, keep_the_promise_together)
{
    std::mt19937 random{815};
    for (int round = 0; round < 20; ++round) {
        std::array<heavy_hitters, 3> workers;
        truth exact;
        std::geometric_distribution<int> clients{0.5 / (1 << (round % 12))};
        for (int i = 0; i < 20'000; ++i) {
            const int client = clients(random);
            // Some clients are seen by one worker only.
            const std::size_t w = client % 3 == 0 ? 0 : static_cast<std::size_t>(random() % 3);
            workers[w].count(base::hashed_name{name_of(client)});
            ++exact[name_of(client)];
        }
        const auto all = merged({workers[0].all(), workers[1].all(), workers[2].all()});
        expect_promises(all, exact, 20'000);
        EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) {
            return a.count > b.count;
        }));
    }
}

TEST(heavy_hitters, keep_only_the_digest_of_a_long_name)
{
    heavy_hitters top;
    const std::string name = name_of(1, 600);
    top.count(base::hashed_name{name});
    top.count(base::hashed_name{name});
    const auto all = top.all();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_TRUE(all[0].is_digest);
    EXPECT_EQ(all[0].count, 2U);
    const auto parts = identity::parts_of(all[0].name);
    EXPECT_EQ(std::get<std::string_view>(parts[0]), "l");
    EXPECT_EQ(std::get<std::string_view>(parts[1]), base::sha256_hex128(name));
}

}  // namespace heavy_hitters_test
}  // namespace gateway::limits
