// Diagnostics for people, on stderr. Any thread. Bounded: lines past a rate are counted, then
// summed up. A reader that stalls never blocks the caller: what does not fit into the pipe counts
// the same.
#pragma once

#include "gateway/telemetry/options.hpp"

#include <string_view>

namespace gateway::telemetry {

// To be called before threads start, and again on reload.
void configure_log(const log_options& options);

// One line, without its end. Control bytes are escaped, and what is past 2 KiB is cut.
void log(log_level level, std::string_view text);

}  // namespace gateway::telemetry
