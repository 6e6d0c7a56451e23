// Reads and writes the header of the PROXY protocol, with which a proxy reports whose connection it
// passes on: https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt. Version 1 is a line of
// text, version 2 is binary.
#pragma once

#include "gateway/base/ip_address.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::base {

// The address and port of one end of a connection.
struct endpoint {
    ip_address address;
    // TCP port; 0 if it is not known.
    std::uint16_t port = 0;

    bool operator==(const endpoint&) const = default;
};

struct connection_ends {
    // The end that connected, and the end that it connected to.
    endpoint client;
    endpoint server;

    bool operator==(const connection_ends&) const = default;
};

struct proxy_header {
    // Most bytes of a line of version 1, with its line end.
    static constexpr std::size_t max_line_bytes = 107;
    // Most bytes of any header; the format of version 2 would allow 65,551.
    static constexpr std::size_t max_bytes = 2048;

    enum class verdict : std::uint8_t { whole, incomplete, malformed };

    verdict is = verdict::incomplete;
    // Number of bytes of a whole header. The bytes behind it belong to the connection.
    std::size_t size = 0;
    // Ends of the client's connection; nothing if the socket's own ends count. The connection is
    // then the proxy's own (LOCAL), or the header names no IP address (UNKNOWN, UNSPEC, a Unix
    // socket).
    std::optional<connection_ends> ends{};
};

// Parses the header at the beginning of a connection, from the bytes that have come. Each proper
// beginning of a whole header is `incomplete`. Fields of version 2 behind the addresses are
// skipped, except that a checksum is verified. The first max_bytes of a connection suffice for a
// verdict.
proxy_header read_proxy_header(std::string_view begin);

// Returns a header of version 2. `ends` is nothing for a connection of the proxy's own.
std::string proxy_header_of(const std::optional<connection_ends>& ends);

}  // namespace gateway::base
