// The header of the PROXY protocol, with which a proxy begins a connection to tell whose connection
// it passes on: https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt. Version 1 is a line of
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
    // 0: not known.
    std::uint16_t port = 0;

    bool operator==(const endpoint&) const = default;
};

struct connection_ends {
    // Who connected, and to what.
    endpoint client;
    endpoint server;

    bool operator==(const connection_ends&) const = default;
};

struct proxy_header {
    // Of a line of version 1, with its end.
    static constexpr std::size_t max_line_bytes = 107;
    // Of any header; the format of version 2 would allow 65,551.
    static constexpr std::size_t max_bytes = 2048;

    enum class verdict : std::uint8_t { whole, incomplete, malformed };

    verdict is = verdict::incomplete;
    // Of a whole one; what follows it is the connection's.
    std::size_t size = 0;
    // Nothing: the real ends count. The connection is the proxy's own (LOCAL), or it tells of no
    // IP address (UNKNOWN, UNSPEC, a Unix socket).
    std::optional<connection_ends> ends{};
};

// What a connection begins with, as far as it has come: every beginning of a whole header is
// incomplete. Fields of version 2 behind the addresses are skipped, after a look at the checksum if
// there is one. max_bytes of `begin` are enough to decide.
proxy_header read_proxy_header(std::string_view begin);

// A header of version 2. Nothing: of a connection that is the proxy's own.
std::string proxy_header_of(const std::optional<connection_ends>& ends);

}  // namespace gateway::base
