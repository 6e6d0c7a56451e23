// `log_options` says what is logged and how.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gateway::telemetry {

enum class log_level { debug, info, warning, error };
enum class log_format { json, text };

// `log_target` is where lines of requests go.
struct log_target {
    enum class kind { standard_output, file, unix_syslog, udp_syslog };
    kind is = kind::standard_output;
    // Path of the file or the Unix socket, or an IP address.
    std::string address{};
    std::uint16_t port = 0;
    // The target as the configuration writes it.
    std::string text = "stdout";
};

struct log_options {
    log_level level = log_level::info;
    bool access = true;
    log_format format = log_format::json;

    // Most bytes of access log lines that wait to be written.
    std::size_t max_backlog_bytes = std::size_t{16} * 1024 * 1024;
    // Longest wait for a stalled reader when the process ends.
    base::duration flush_timeout = std::chrono::seconds{2};
    // Most lines of diagnostics per second.
    std::uint64_t max_lines_per_second = 100;

    log_target output{};
};

}  // namespace gateway::telemetry
