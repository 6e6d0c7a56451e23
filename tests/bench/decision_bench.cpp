// What one local decision costs, at 1 to 10 million clients, beside the floor: one random
// read-modify-write that misses the caches as the table does.
#include "gateway/base/clock.hpp"
#include "gateway/limit/limit.hpp"
#include "gateway/store/memory_store.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

namespace gateway::store {
namespace {

// The names are made on the way, so that a list of them does not take the caches from the table.
struct client_name {
    std::array<char, 34> bytes{"\x0a\0\0\0per_client\xff\xff\xff\xff..............."};

    std::string_view of(std::uint64_t client)
    {
        std::memcpy(bytes.data() + 26, &client, sizeof(client));
        return {bytes.data(), bytes.size()};
    }
};

// Nobody runs dry, and nobody is full again, while a benchmark lasts.
const limit::limit slow = limit::limit::make(1, std::chrono::minutes{1}, 50'000'000).value();

const limit::limit windows = limit::limit::in_windows({.count = 50'000'000,
                                                       .length = std::chrono::hours{24 * 365},
                                                       .capacity = 50'000'000})
                                 .value();

memory_store& filled(std::size_t clients, const limit::limit& kind = slow)
{
    static std::size_t held = 0;
    static const limit::limit* of = nullptr;
    static std::unique_ptr<memory_store> store;
    if (held != clients || of != &kind) {
        store.reset();
        store = std::make_unique<memory_store>(memory_options{.max_buckets = clients});
        held = clients;
        of = &kind;
        client_name name;
        answer said;
        for (std::size_t i = 0; i < clients; ++i) {
            const charge c{.limit_name = "per_client", .bucket_name = name.of(i), .limit = &kind};
            benchmark::DoNotOptimize(store->take({&c, 1}, base::now(), said));
        }
    }
    return *store;
}

void decide_of(benchmark::State& state, const limit::limit& kind)
{
    const auto clients = static_cast<std::uint64_t>(state.range(0));
    memory_store& store = filled(clients, kind);
    std::minstd_rand random{1};
    client_name name;
    answer said;
    const base::instant now = base::now();  // one reading per turn of the loop
    for (auto _ : state) {
        const std::uint64_t client = random() % clients;
        const charge c{.limit_name = "per_client", .bucket_name = name.of(client), .limit = &kind};
        benchmark::DoNotOptimize(store.take({&c, 1}, now, said));
    }
}

void decide(benchmark::State& state)
{
    decide_of(state, slow);
}

void decide_window(benchmark::State& state)
{
    decide_of(state, windows);
}

void decide_three(benchmark::State& state)  // three limits in one question
{
    const auto clients = static_cast<std::uint64_t>(state.range(0));
    memory_store& store = filled(clients);
    std::minstd_rand random{1};
    std::array<client_name, 3> names;
    answer said;
    const base::instant now = base::now();
    for (auto _ : state) {
        std::array<charge, 3> charges;
        for (std::size_t i = 0; i < charges.size(); ++i) {
            charges[i] = {
                .limit_name = "per_client",
                .bucket_name = names[i].of(random() % clients),
                .limit = &slow};
        }
        benchmark::DoNotOptimize(store.take(charges, now, said));
    }
}

void floor_of_memory(benchmark::State& state)
{
    const auto clients = static_cast<std::size_t>(state.range(0));
    std::vector<std::array<std::uint64_t, 4>> slots(clients + clients / 2);
    std::minstd_rand random{1};
    std::uint64_t previous = 0;
    for (auto _ : state) {
        auto& slot = slots[(random() + previous) % slots.size()];  // waits for the one before
        previous = ++slot[2] & 1;
    }
}

BENCHMARK(decide)->Arg(1)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000);
BENCHMARK(decide_window)->Arg(1)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000);
BENCHMARK(decide_three)->Arg(1'000'000);
BENCHMARK(floor_of_memory)->Arg(1)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000);

}  // namespace
}  // namespace gateway::store
