// What one local decision costs, at 1 to 10 million clients and by every kind of limit, beside the
// floor: one random read-modify-write that misses the caches as the table does.
#include "gateway/base/clock.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/limit/limit.hpp"
#include "gateway/store/memory/memory_store.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <random>
#include <string_view>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace gateway::store {
namespace {

// The names are made on the way, as for a request, so that a list of them does not take the caches
// from the table.
class client_names {
public:
    // Under the limit of that number, of at most four; first under that of number 0, whose key the
    // others have.
    base::hashed_name of(std::uint64_t client, std::size_t limit = 0)
    {
        identity::bucket_name& name = names_[limit];
        if (limit == 0) {
            name.start(limits[limit]);
            name.add({reinterpret_cast<const char*>(&client), sizeof(client)});
        } else {
            name.start(limits[limit], names_[0]);
        }
        return name.hashed();
    }

    static constexpr std::array<std::string_view, 4> limits{
        "per_client", "per_minute", "per_day", "per_month"};

private:
    std::array<identity::bucket_name, 4> names_;
};

// Nobody runs dry, and nobody is full again, while a benchmark lasts.
const limit::limit slow = limit::limit::make(1, std::chrono::minutes{1}, 50'000'000).value();

const limit::limit windows = limit::limit::in_windows({.count = 50'000'000,
                                                       .length = std::chrono::hours{24 * 365},
                                                       .capacity = 50'000'000})
                                 .value();

// Of these a client has some hundred tokens under way at any time, in any stretch of time.
const limit::limit sliding =
    limit::limit::sliding(50'000'000, std::chrono::milliseconds{1}, 16).value();
const limit::limit exact_log =
    limit::limit::sliding(10'000, std::chrono::microseconds{100}, 0).value();

const limit::limit in_flight =
    limit::limit::in_flight(50'000'000, std::chrono::seconds{10}).value();

// Resident memory of this process.
std::size_t resident()
{
    std::size_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Of each client in the store that was filled last.
double bytes_per_client = 0;

memory_store& filled(std::size_t clients, const limit::limit& kind = slow, std::size_t limits = 1)
{
    using contents = std::tuple<std::size_t, const limit::limit*, std::size_t>;
    static contents held;
    static std::unique_ptr<memory_store> store;
    if (held != contents{clients, &kind, limits}) {
        store.reset();
        held = {clients, &kind, limits};
        const std::size_t buckets = clients * limits;
        store = std::make_unique<memory_store>(memory_options{.max_buckets = buckets});
        const std::size_t before = resident();
        client_names names;
        answer said;
        for (std::size_t i = 0; i < buckets; ++i) {
            const charge c{
                .limit_name = client_names::limits[i % limits],
                .bucket_name = names.of(i / limits, i % limits),
                .limit = &kind};
            benchmark::DoNotOptimize(store->take({&c, 1}, base::now(), said));
        }
        bytes_per_client = static_cast<double>(resident() - before) / static_cast<double>(clients);
    }
    return *store;
}

void decide_of(benchmark::State& state, const limit::limit& kind)
{
    const auto clients = static_cast<std::uint64_t>(state.range(0));
    memory_store& store = filled(clients, kind);
    std::minstd_rand random{1};
    client_names names;
    answer said;
    base::instant now = base::now();
    for (auto _ : state) {
        now += std::chrono::microseconds{1};
        const std::uint64_t client = random() % clients;
        const charge c{.limit_name = "per_client", .bucket_name = names.of(client), .limit = &kind};
        benchmark::DoNotOptimize(store.take({&c, 1}, now, said));
    }
    state.counters["bytes"] = bytes_per_client;
}

void decide(benchmark::State& state)
{
    decide_of(state, slow);
}

void decide_window(benchmark::State& state)
{
    decide_of(state, windows);
}

void decide_sliding_window(benchmark::State& state)
{
    decide_of(state, sliding);
}

void decide_sliding_log(benchmark::State& state)
{
    decide_of(state, exact_log);
}

void decide_concurrency(benchmark::State& state)
{
    decide_of(state, in_flight);
}

// So many limits of one client in one question.
template <std::size_t Limits>
void decide_together(benchmark::State& state)
{
    const auto clients = static_cast<std::uint64_t>(state.range(0));
    memory_store& store = filled(clients, slow, Limits);
    std::minstd_rand random{1};
    client_names names;
    answer said;
    std::array<charge, Limits> charges;
    const base::instant now = base::now();
    for (auto _ : state) {
        const std::uint64_t client = random() % clients;
        for (std::size_t i = 0; i < charges.size(); ++i) {
            charges[i] = {
                .limit_name = client_names::limits[i],
                .bucket_name = names.of(client, i),
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

// With 4 million there are as many buckets as a million clients have under four limits.
BENCHMARK(decide)->Arg(1)->Arg(100'000)->Arg(1'000'000)->Arg(4'000'000)->Arg(10'000'000);
BENCHMARK(decide_window)->Arg(1)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000);
BENCHMARK(decide_sliding_window)->Arg(1)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000);
BENCHMARK(decide_sliding_log)->Arg(1)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000);
BENCHMARK(decide_concurrency)->Arg(1)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000);
BENCHMARK(decide_together<3>)->Name("decide_three")->Arg(1'000'000);
BENCHMARK(decide_together<4>)->Name("decide_four")->Arg(1)->Arg(100'000)->Arg(1'000'000);
BENCHMARK(floor_of_memory)->Arg(1)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000);

}  // namespace
}  // namespace gateway::store
