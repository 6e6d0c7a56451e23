// `grpc_status` is the outcome of a gRPC call (`grpc-status`), and what it is to the statuses of
// HTTP. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::http {

enum class grpc_status : std::uint8_t {
    ok = 0,
    cancelled = 1,
    unknown = 2,
    invalid_argument = 3,
    deadline_exceeded = 4,
    not_found = 5,
    already_exists = 6,
    permission_denied = 7,
    resource_exhausted = 8,
    failed_precondition = 9,
    aborted = 10,
    out_of_range = 11,
    unimplemented = 12,
    internal = 13,
    unavailable = 14,
    data_loss = 15,
    unauthenticated = 16,
    // Any number that is none of these, which clients take for `unknown`.
    other = 17,
};

// Names of the codes but for `other`, which has none.
inline constexpr std::array<std::string_view, 17> grpc_status_names{
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

constexpr std::size_t number_of(grpc_status s)
{
    return static_cast<std::size_t>(s);
}

// Reads the value of `grpc-status`. One that is no number is `unknown`.
grpc_status read_grpc_status(std::string_view value);

// Returns the code for a response of the gateway's own that has this status over HTTP, 400 or
// above. `timed_out`: a time for the whole request has passed, which tells the 504 of a slow server
// from that of one that cannot be reached.
grpc_status own_grpc_status(int status, bool timed_out);

// Returns the code that clients make of a response with this status of HTTP and without
// `grpc-status` (doc/http-grpc-status-mapping.md of gRPC).
grpc_status implied_grpc_status(int status);

// Returns the text as a value of `grpc-message`, which is percent-encoded.
std::string grpc_message(std::string_view text);

}  // namespace gateway::http
