// `log` prints diagnostics for people on stderr. Lines past a rate are counted, then reported as a
// sum. A stalled reader never blocks the caller: a line that does not fit into the pipe counts the
// same.
// Thread: any.
#pragma once

#include "gateway/telemetry/options.hpp"

#include <string_view>

namespace gateway::telemetry {

// Sets the options, before threads start and again on a reload.
void configure_log(const log_options& options);

// Prints one line, without its end. Control bytes are escaped, and text past 2 KiB is cut.
void log(log_level level, std::string_view text);

// Prints what became of a start, a reload, an upgrade or a drain. These lines have a rate of their
// own, so that no number of other lines suppresses them.
void log_outcome(log_level level, std::string_view text);

// Reports how many lines were suppressed, if any were. Called about twice a second, as no other
// line may follow.
void report_suppressed_lines();

}  // namespace gateway::telemetry
