// `open_syslog` opens an output that sends each line as one message of syslog (RFC 3164), with the
// facility `daemon` and the severity `info`.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/telemetry/log_output.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace gateway::telemetry {

// Most bytes of a line in a message; the rest is cut off. With what stands before it, a message
// fits into a datagram of UDP (65,507 bytes).
inline constexpr std::size_t max_syslog_line_bytes = 65'000;

// Connects to the server of the target. A server on a Unix socket that is not there yet, or has
// gone, is connected to again with each line. Lines in between are lost.
opened_output open_syslog(const log_target& target);

// Sets `out` to a message. `sender` comes after the time: a host, if the server is another machine,
// and `gateway[PID]:`.
void format_syslog(
    std::string& out, base::duration unix_time, std::string_view sender, std::string_view line
);

}  // namespace gateway::telemetry
