// Diagnostics for people, on stderr. Any thread. Bounded: lines past a rate are counted, then summed up.
#pragma once

#include "gateway/telemetry/options.hpp"

#include <string_view>

namespace gateway::telemetry {

void configure_log(const log_options& options);  // before threads start, and again on reload
void log(log_level level, std::string_view text);

}  // namespace gateway::telemetry
