// store_load SERVER WAY KEY=VALUE...: asks a Redis server for decisions as fast as they come, by
// one of the ways script, commands, watch, ours, or a PostgreSQL server by upsert, writing_upsert,
// update, ours; prints what came of it as JSON.
#include "tests/bench/stores/allocations.hpp"
#include "tests/bench/stores/postgres_strategies.hpp"
#include "tests/bench/stores/strategies.hpp"
#include "tests/bench/stores/workload.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace gateway::bench {
namespace {

using clock = std::chrono::steady_clock;

redis_client connected_to(const workload& w, const strategy*)
{
    return redis_client{std::stoi(w.server)};
}

postgres_client connected_to(const workload& w, const postgres_strategy*)
{
    return postgres_client{w.server};
}

std::int64_t repeats_of(const redis_client&)
{
    return 0;
}

std::int64_t repeats_of(const postgres_client& client)
{
    return client.repeats;
}

template <typename Strategy>
void keep_asking(Strategy take, const workload& w, unsigned seed, result& into)
{
    auto client = connected_to(w, static_cast<const Strategy*>(nullptr));
    const tokens limit{static_cast<double>(w.per_second), static_cast<double>(w.burst)};
    std::minstd_rand random{seed + 1};
    const auto began = clock::now();
    const auto until = began + w.lasts;
    for (auto asked = began, due = began; asked < until;) {
        const bool allowed = take(client, "bucket:" + std::to_string(random() % w.keys), limit);
        const auto answered = clock::now();
        ++into.decisions;
        into.allowed += allowed ? 1 : 0;
        into.latencies.push_back(answered - asked);
        asked = answered;
        if (w.rate > 0) {
            due += std::chrono::nanoseconds{1'000'000'000 / w.rate};
            std::this_thread::sleep_until(due);
            asked = clock::now();
        }
    }
    into.repeats = repeats_of(client);
}

template <typename Strategy>
result ask_in_threads(Strategy take, const workload& w)
{
    std::vector<result> results(w.callers);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < w.callers; ++i) {
        threads.emplace_back([&, i] { keep_asking(take, w, static_cast<unsigned>(i), results[i]); }
        );
    }
    result all;
    for (std::size_t i = 0; i < w.callers; ++i) {
        threads[i].join();
        all.decisions += results[i].decisions;
        all.allowed += results[i].allowed;
        all.repeats += results[i].repeats;
        all.latencies.insert(
            all.latencies.end(), results[i].latencies.begin(), results[i].latencies.end()
        );
    }
    return all;
}

result run(std::string_view way, const workload& w)
{
    const std::map<std::string_view, strategy> others{
        {"script", by_script}, {"commands", by_commands}, {"watch", by_watch}};
    const std::map<std::string_view, postgres_strategy> in_postgres{
        {"upsert", by_upsert}, {"writing_upsert", by_writing_upsert}, {"update", by_update}};
    if (way == "ours") {
        return ask_our_store(w);
    }
    if (w.in_postgres()) {
        postgres_client{w.server}.install();
        return ask_in_threads(in_postgres.at(way), w);
    }
    return ask_in_threads(others.at(way), w);
}

void read_option(std::string_view word, workload& w)
{
    const auto equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const std::string value{word.substr(std::min(word.size(), equals + 1))};
    if (key == "kind") {
        w.kind = value;
    } else if (key == "callers") {
        w.callers = std::stoul(value);
    } else if (key == "keys") {
        w.keys = std::stoul(value);
    } else if (key == "limits") {
        w.limits = std::stoul(value);
    } else if (key == "lease") {
        w.lease = std::stoi(value);
    } else if (key == "remember") {
        w.remember = std::stoi(value) != 0;
    } else if (key == "stores") {
        w.stores = std::stoul(value);
    } else if (key == "lasts_ms") {
        w.lasts = std::chrono::milliseconds{std::stol(value)};
    } else if (key == "rate") {
        w.rate = std::stol(value);
    } else if (key == "per_second") {
        w.per_second = std::stol(value);
    } else if (key == "burst") {
        w.burst = std::stol(value);
    } else {
        throw std::runtime_error("no such option: " + std::string{word});
    }
}

double percentile(std::vector<std::chrono::nanoseconds>& of, double part)
{
    if (of.empty()) {
        return 0;
    }
    const auto at =
        of.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(of.size() - 1));
    std::nth_element(of.begin(), at, of.end());
    return std::chrono::duration<double, std::micro>(*at).count();
}

int main_of(int argc, char** argv)
{
    workload w;
    w.server = argv[1];
    for (int i = 3; i < argc; ++i) {
        read_option(argv[i], w);
    }
    const std::int64_t allocated = allocations();
    const auto began = clock::now();
    result r = run(argv[2], w);
    const std::chrono::duration<double> took = clock::now() - began;
    std::printf(
        "{\"decisions\": %lld, \"allowed\": %lld, \"seconds\": %.3f, \"allocations\": %lld, "
        "\"repeats\": %lld, \"calls\": %lld, "
        "\"p50_us\": %.1f, \"p99_us\": %.1f}\n",
        static_cast<long long>(r.decisions),
        static_cast<long long>(r.allowed),
        took.count(),
        static_cast<long long>(allocations() - allocated),
        static_cast<long long>(r.repeats),
        static_cast<long long>(r.calls),
        percentile(r.latencies, 0.5),
        percentile(r.latencies, 0.99)
    );
    return 0;
}

}  // namespace
}  // namespace gateway::bench

int main(int argc, char** argv)
{
    try {
        if (argc < 3) {
            throw std::runtime_error(
                "usage: store_load PORT script|commands|watch|ours [KEY=VALUE]...\n"
                "       store_load postgresql://... upsert|writing_upsert|update|ours "
                "[KEY=VALUE]..."
            );
        }
        return gateway::bench::main_of(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "store_load: %s\n", e.what());
        return 1;
    }
}
