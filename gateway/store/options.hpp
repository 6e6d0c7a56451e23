// What a store can be told.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>
#include <string>

namespace gateway::store {

struct memory_options {
    enum class when_full { share, reject };
    std::size_t max_buckets = 1'000'000;
    when_full on_full = when_full::share;

    bool operator==(const memory_options&) const = default;
};

struct redis_options {
    std::string host = "127.0.0.1";  // name or address; unused with a socket path
    std::string port = "6379";
    std::string socket_path;  // of a Unix socket; empty = TCP
    std::string user;         // empty: the default user
    std::string password;     // empty: no AUTH
    int database = 0;
    base::duration timeout = std::chrono::milliseconds{25};  // of one decision, everything included
    std::string key_prefix = "gw:";

    bool operator==(const redis_options&) const = default;
};

}  // namespace gateway::store
