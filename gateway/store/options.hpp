// `memory_options` and `conversation_options` are the settings of the local store, and those that
// every kind of shared store has.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gateway::store {

// The file in which the local store is kept while no process runs.
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

// `breaker_options` says when a failing shared store is no longer asked (breaker_state).
struct breaker_options {
    // Failures in a row that open the breaker.
    std::uint32_t failures = 5;
    // Fewest decisions within `window` to judge by. If half of them failed, the breaker opens, too.
    std::uint32_t decisions = 20;
    // Time over which decisions are counted.
    base::duration window = std::chrono::seconds{1};
    // Longest pause before each probe.
    base::duration pause = std::chrono::milliseconds{450};

    bool operator==(const breaker_options&) const = default;
};

// `conversation_options` has the settings of every kind of shared store.
struct conversation_options {
    // Prefix of the gateway's keys in the store.
    std::string key_prefix = "gw:";
    // Longest time that one decision may take, everything included.
    base::duration timeout = std::chrono::milliseconds{25};
    // Most unanswered questions per worker. A worker has fewer connections, so that no client fills
    // it.
    std::size_t max_pending = 16'384;
    // True if a bucket that the store called empty is rejected without asking, until the moment
    // that the store named.
    bool remember_rejections = true;
    // Longest time for which that is believed while the store can be asked.
    base::duration remember_for = std::chrono::seconds{10};
    breaker_options breaker{};

    bool operator==(const conversation_options&) const = default;
};

}  // namespace gateway::store
