// What a store can be told, whatever its kind.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gateway::store {

struct memory_options {
    enum class when_full { share, reject };
    std::size_t max_buckets = 1'000'000;
    when_full on_full = when_full::share;

    bool operator==(const memory_options&) const = default;
};

// When a shared store that fails is not asked any more (breaker_state).
struct breaker_options {
    std::uint32_t failures = 5;                             // in a row
    std::uint32_t decisions = 20;                           // or half of at least so many,
    base::duration window = std::chrono::seconds{1};        // within that time
    base::duration pause = std::chrono::milliseconds{450};  // at most, before each probe

    bool operator==(const breaker_options&) const = default;
};

// What every kind of shared store can be told.
struct conversation_options {
    std::string key_prefix = "gw:";                          // of our keys in the store
    base::duration timeout = std::chrono::milliseconds{25};  // of one decision, everything included
    // Questions without an answer yet, per worker. More than a worker has connections, so that no
    // client fills it.
    std::size_t max_pending = 16'384;
    // What the store called empty is rejected without asking, until the moment that it named.
    bool remember_rejections = true;
    breaker_options breaker{};

    bool operator==(const conversation_options&) const = default;
};

}  // namespace gateway::store
