// What a store can be told.
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

// How a worker talks with a shared store.
struct conversation_options {
    base::duration timeout = std::chrono::milliseconds{25};  // of one decision, everything included
    // Questions without an answer yet, per worker. More than a worker has connections, so that no
    // client fills it.
    std::size_t max_pending = 16'384;
    // What the store called empty is rejected without asking, until the moment that it named.
    bool remember_rejections = true;
    breaker_options breaker{};

    bool operator==(const conversation_options&) const = default;
};

struct redis_options : conversation_options {
    std::string host = "127.0.0.1";  // name or address; unused with a socket path
    std::string port = "6379";
    std::string socket_path;  // of a Unix socket; empty = TCP
    std::string user;         // empty: the default user
    std::string password;     // empty: no AUTH
    int database = 0;
    std::string key_prefix = "gw:";

    bool operator==(const redis_options&) const = default;
};

}  // namespace gateway::store
