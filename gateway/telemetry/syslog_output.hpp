// `open_syslog` opens an output that sends each line as one message of syslog (RFC 3164), with the
// facility `daemon` and the severity `info`.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/telemetry/log_output.hpp"

#include <string>
#include <string_view>

namespace gateway::telemetry {

// Connects to the server of the target. A server on a Unix socket that is not there yet, or has
// gone, is connected to again with each line. Lines in between are lost.
opened_output open_syslog(const log_target& target);

// Sets `out` to a message. `sender` comes after the time: a host, if the server is another machine,
// and `gateway[PID]:`.
void format_syslog(
    std::string& out, base::duration unix_time, std::string_view sender, std::string_view line
);

}  // namespace gateway::telemetry
