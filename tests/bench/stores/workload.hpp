// What is asked of a store in a run, and what came of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gateway::bench {

struct workload {
    // The port of a Redis server on 127.0.0.1, or the URL of a PostgreSQL database.
    std::string server;
    // So many decisions are waited for at any time.
    std::size_t callers = 1;
    // Buckets, one of which each decision asks at random.
    std::size_t keys = 1;
    std::chrono::milliseconds lasts{1000};
    // Decisions that each caller asks for in a second; 0: as many as it can. Not of our store.
    std::int64_t rate = 0;
    // Of each bucket.
    std::int64_t per_second = 1'000'000;
    std::int64_t burst = 1'000'000;
    // The kind of limit, and how many of them each decision asks; of our store only.
    std::string kind = "token_bucket";
    std::size_t limits = 1;
    // Percent of the burst that is taken ahead; of our store only.
    int lease = 0;
    // Whether rejections are remembered; of our store only.
    bool remember = true;
    // So many of our stores share the callers, each with a connection, as those of so many workers.
    std::size_t stores = 1;

    bool in_postgres() const { return server.starts_with("postgresql://"); }
};

struct result {
    std::int64_t decisions = 0;
    std::int64_t allowed = 0;
    // Calls that the server made somebody repeat, and calls of our store.
    std::int64_t repeats = 0;
    std::int64_t calls = 0;
    // From asking to the answer, in no order.
    std::vector<std::chrono::nanoseconds> latencies;
};

// As the gateway asks. Throws std::runtime_error where
// the store fails.
result ask_our_store(const workload& w);

}  // namespace gateway::bench
