// What to log, and how.
#pragma once

namespace gateway::telemetry {

enum class log_level { debug, info, warning, error };
enum class log_format { json, text };

struct log_options {
    log_level level = log_level::info;
    bool access = true;
    log_format format = log_format::json;
};

}  // namespace gateway::telemetry
