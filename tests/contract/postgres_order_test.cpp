// Calls of several gateways that want the same rows wait for each other in one order, and lose
// nothing.
#include "tests/contract/subjects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace gateway::store::testing {
namespace {

constexpr int gateways = 3;
constexpr int rounds = 100;
constexpr int buckets = 20;
constexpr std::int64_t burst = 1000;

// So slow that no token comes back meanwhile.
const limit::limit slow = *limit::limit::make(1, std::chrono::hours{1}, burst);

std::vector<std::string> names()
{
    std::vector<std::string> all;
    for (int i = 0; i < buckets; ++i) {
        all.push_back("client " + std::to_string(i));
    }
    return all;
}

charge of(const std::string& name)
{
    return {.limit_name = "l", .bucket_name = base::hashed_name{name}, .limit = &slow};
}

// Asks for a token of each bucket at once, in another order each time.
void keep_asking(std::shared_ptr<postgres_server> server, unsigned seed)
{
    postgres_subject s{std::move(server), postgres_subject::patient()};
    ASSERT_TRUE(s.becomes_healthy());
    std::mt19937 random{seed};
    std::vector<std::string> order = names();
    for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        std::deque<charge> charges;
        std::deque<asker> askers(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            charges.push_back(of(order[i]));
            ASSERT_EQ(s.store().ask({&charges.back(), 1}, askers[i]), std::nullopt);
        }
        const auto settled = [](const asker& a) { return a.settled(); };
        ASSERT_TRUE(run_until(s.io(), [&] { return std::ranges::all_of(askers, settled); }));
        for (const asker& a : askers) {
            ASSERT_TRUE(a.got && a.got->admitted);
        }
    }
}

TEST(postgres_rows, are_taken_in_one_order_whatever_the_questions)
{
    const auto server = std::make_shared<postgres_server>();
    postgres_subject last{server, postgres_subject::patient()};
    std::vector<std::thread> threads;
    for (int i = 0; i < gateways; ++i) {
        threads.emplace_back(keep_asking, server, i);
    }
    for (std::thread& t : threads) {
        t.join();
    }
    for (const std::string& name : names()) {
        const charge c = of(name);
        const auto a = last.take({&c, 1});
        ASSERT_TRUE(a);
        EXPECT_EQ(a->decisions()[0].remaining, burst - gateways * rounds - 1) << name;
    }
    EXPECT_EQ(server->log().find("deadlock"), std::string::npos) << server->log();
}

}  // namespace
}  // namespace gateway::store::testing
