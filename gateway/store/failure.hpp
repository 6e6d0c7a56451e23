// How asking a store may fail.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gateway::store {

// Why there is no answer. The classes differ in what the store does next; see docs/operations.md.
enum class failure : std::uint8_t {
    // The connection was refused, reset or closed, or there is no address.
    unreachable,
    // Nothing good came within `timeout`.
    timeout,
    // LOADING, BUSY, MASTERDOWN: the server says "not now".
    loading,
    // READONLY, NOREPLICAS, OOM: the server does not take writes.
    readonly,
    // NOAUTH, WRONGPASS, NOPERM: the server does not let us in, or not do this.
    auth,
    // MOVED, CROSSSLOT, unknown commands: not a server we can use.
    config,
    // The key holds something else. Says nothing about other keys.
    corrupt,
    // Bytes came that are no reply of ours.
    protocol,
    // Our own queue to the server is full.
    overload,
    // The breaker is open: the server was not asked at all.
    open,
};

inline constexpr std::array<std::string_view, 10> failure_names{
    "unreachable",
    "timeout",
    "loading",
    "readonly",
    "auth",
    "config",
    "corrupt",
    "protocol",
    "overload",
    "open",
};

// What became of the tokens of a question that has no answer.
enum class taken : std::uint8_t {
    // They are there as before: the store was never asked, or said that it did nothing.
    no,
    // It was asked, and what it did is not known.
    perhaps,
};

}  // namespace gateway::store
