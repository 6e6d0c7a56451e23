// `failure` is the reason why a store gave no answer, and `taken` what became of the tokens.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gateway::store {

// The classes differ in what the store does next; see docs/operations.md.
enum class failure : std::uint8_t {
    // The connection was refused, reset or closed, or no address was found.
    unreachable,
    // No valid reply came within `timeout`.
    timeout,
    // LOADING, BUSY, MASTERDOWN: the server cannot answer now.
    loading,
    // READONLY, NOREPLICAS, OOM: the server does not take writes.
    readonly,
    // NOAUTH, WRONGPASS, NOPERM: the server refuses the gateway's login, or this command.
    auth,
    // MOVED, CROSSSLOT, unknown commands: the server is not one that the gateway can use.
    config,
    // The key holds something other than a bucket. Other keys may be fine.
    corrupt,
    // The bytes that came are not a valid reply.
    protocol,
    // The worker's own queue to the server is full.
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

// State of the tokens of a question that has no answer.
enum class taken : std::uint8_t {
    // The tokens were not taken: the store was never asked, or replied that it did nothing.
    no,
    // The store was asked, and it is not known if it took them.
    perhaps,
};

}  // namespace gateway::store
