// What to log, and how.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>
#include <cstdint>

namespace gateway::telemetry {

enum class log_level { debug, info, warning, error };
enum class log_format { json, text };

struct log_options {
    log_level level = log_level::info;
    bool access = true;
    log_format format = log_format::json;
    std::size_t max_backlog_bytes = std::size_t{16} * 1024 * 1024;  // lines of requests, unwritten
    base::duration flush_timeout = std::chrono::seconds{2};  // for a stalled reader, at the end
    std::uint64_t max_lines_per_second = 100;                // of diagnostics
};

}  // namespace gateway::telemetry
