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

    // Most bytes of lines about requests that are not written yet.
    std::size_t max_backlog_bytes = std::size_t{16} * 1024 * 1024;
    // How long a stalled reader is waited for at the end.
    base::duration flush_timeout = std::chrono::seconds{2};
    // Most lines of diagnostics per second.
    std::uint64_t max_lines_per_second = 100;
};

}  // namespace gateway::telemetry
