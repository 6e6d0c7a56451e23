// What a store can be told, whatever its kind.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gateway::store {

// Where the local store is kept while no process runs.
struct snapshot_options {
    std::string file;
    base::duration interval = std::chrono::minutes{1};

    bool operator==(const snapshot_options&) const = default;
};

struct memory_options {
    enum class when_full { share, reject };
    std::size_t max_buckets = 1'000'000;
    when_full on_full = when_full::share;
    std::optional<snapshot_options> snapshot = {};

    bool operator==(const memory_options&) const = default;
};

// When a shared store that fails is not asked any more (breaker_state).
struct breaker_options {
    // Failures in a row that open the breaker.
    std::uint32_t failures = 5;
    // Least number of decisions within `window` to judge by: if half of them failed, the breaker
    // opens, too.
    std::uint32_t decisions = 20;
    // The time that decisions are counted over.
    base::duration window = std::chrono::seconds{1};
    // The longest pause before each probe.
    base::duration pause = std::chrono::milliseconds{450};

    bool operator==(const breaker_options&) const = default;
};

// What every kind of shared store can be told.
struct conversation_options {
    // What our keys in the store begin with.
    std::string key_prefix = "gw:";
    // The longest that one decision may take, everything included.
    base::duration timeout = std::chrono::milliseconds{25};
    // Questions without an answer yet, per worker. More than a worker has connections, so that no
    // client fills it.
    std::size_t max_pending = 16'384;
    // What the store called empty is rejected without asking, until the moment that it named.
    bool remember_rejections = true;
    // For how long that is believed at most while the store can be asked.
    base::duration remember_for = std::chrono::seconds{10};
    breaker_options breaker{};

    bool operator==(const conversation_options&) const = default;
};

}  // namespace gateway::store
